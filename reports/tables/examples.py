"""What more steps changed: how often later steps corrected an answer, and how often spoiled it."""

from actmodels.rows.pairs import COUNTS
from reports.markdown import Table
from reports.spread import signed, title
from reports.stored.examples import Counted, Examples

# How the report names the outcomes that the stage `trace` tells apart.
WORDS = {
    "corrected": "corrected",
    "spoiled": "spoiled",
    "right_throughout": "right throughout",
    "wrong_throughout": "wrong throughout",
    "changed_in_between": "changed in between",
}


def examples_table(examples: Examples) -> Table:
    """One row per traced model and seed: counts, with their share of the traced pairs."""
    header = ["model", "seed", "pairs", "right after step 1", "right answers", *WORDS.values()]
    rows = [
        [
            *(title(run.model), str(run.seed), f"{run.counts['pairs']:,}"),
            *(_count(run, name) for name in COUNTS[1:]),
        ]
        for run in examples.counted
    ]
    return Table(header, rows)


def examples_sentence(examples: Examples) -> str:
    """What steps after the first gained or lost, run by run."""
    return " ".join(map(_sentence, examples.counted))


def examples_note() -> str:
    """What the columns mean."""
    return (
        "The state after each step of a traced test pair is classified by itself. Corrected: the "
        "state after step 1 is wrong, the answer right. Spoiled: the reverse. Throughout: every "
        "state and the answer are alike in being right or wrong. Changed in between: step 1 and "
        "the answer are alike, but some state between them is not. A state is seldom trained to "
        "be classified alone, so a wrong one does not mean that a model of so few steps would be "
        "wrong."
    )


def examples_metrics(examples: Examples) -> dict[str, float]:
    """Traced pairs, and the share of them that each count is, by model and seed."""
    return {
        f"trace.{run.model}.seed_{run.seed}.{name}": (
            count if name == "pairs" else share(run, name)
        )
        for run in examples.counted
        for name, count in run.counts.items()
    }


def share(run: Counted, name: str) -> float:
    """A count as a share of the traced pairs."""
    return run.counts[name] / run.counts["pairs"]


def _count(run: Counted, name: str) -> str:
    """`34 (2.3 %)`."""
    return f"{run.counts[name]:,} ({100 * share(run, name):.1f} %)"


def _sentence(run: Counted) -> str:
    gained = 100 * (share(run, "right") - share(run, "right_after_step_1"))
    first, right = (f"{100 * share(run, n):.1f} %" for n in ("right_after_step_1", "right"))
    return (
        f"{title(run.model)}, seed {run.seed}: of {run.counts['pairs']:,} traced pairs the state "
        f"after step 1 by itself classifies {first} rightly, all steps together {right} "
        f"({signed(gained)} points): more steps corrected {_count(run, 'corrected')} and spoiled "
        f"{_count(run, 'spoiled')}."
    )
