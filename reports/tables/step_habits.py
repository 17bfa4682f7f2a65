"""What steps go with among the answers: gold labels, being right, and what more steps changed."""

import pandas as pd

from actmodels.rows.pairs import COUNTS
from reports.blocks import DASH, Table
from reports.findings import halting_models
from reports.spread import Spread, signed, title
from reports.stored.artefacts import Artefacts
from reports.stored.traces import Counted, Examples

LABELS = {
    "entailment": "entailments",
    "neutral": "neutral pairs",
    "contradiction": "contradictions",
}  # each with what its pairs are called
PARTS = ("fewest", "second", "third", "fourth", "most")  # fifths of a seed's pairs, by steps
# How the report names the outcomes that the stage `trace` tells apart.
WORDS = {
    "corrected": "corrected",
    "spoiled": "spoiled",
    "right_throughout": "right throughout",
    "wrong_throughout": "wrong throughout",
    "changed_in_between": "changed in between",
}


def _scored(artefacts: Artefacts, model: str) -> pd.DataFrame:
    """A row per seed and test pair: its steps, its label, and whether the answer is right."""
    rows = artefacts.predictions[artefacts.predictions["model"] == model]
    return rows.assign(right=(rows["label"] == rows["predicted"]).astype(float))


def steps_by_label(artefacts: Artefacts, model: str) -> dict[str, "pd.Series[float]"]:
    """Gold label -> mean steps of its pairs by seed; only labels that occur."""
    rows = _scored(artefacts, model)
    means = rows.groupby(["seed", "label"])["steps"].mean().unstack()
    return {label: means[label] for label in LABELS if label in means}


def fifths(artefacts: Artefacts, model: str) -> dict[str, pd.DataFrame]:
    """Fifths of each seed's pairs, fewest steps first.

    Each has mean `steps`, share `right` and share of each label [seeds, figures]; shares are in
    [0, 1]. Pairs of as many steps as others are alike: where a border runs through them, they
    count in part on both sides.
    """
    rows = _scored(artefacts, model)
    rows = rows.assign(**{label: (rows["label"] == label).astype(float) for label in LABELS})
    by_seed = dict(list(rows.groupby("seed")))
    return {
        part: pd.DataFrame({seed: _fifth(at, of) for seed, of in by_seed.items()}).T
        for at, part in enumerate(PARTS)
    }


def _fifth(at: int, rows: pd.DataFrame) -> "pd.Series[float]":
    """The means of one fifth of one seed's pairs."""
    size = rows.groupby("steps").size() * len(PARTS)  # whole numbers: borders are met exactly
    ends = size.cumsum()
    low, high = at * len(rows), (at + 1) * len(rows)
    inside = (ends.clip(upper=high) - (ends - size).clip(lower=low)).clip(lower=0)
    means = rows.groupby("steps")[["right", *LABELS]].mean()
    return means.assign(steps=means.index).mul(inside / len(rows), axis=0).sum()


def label_gap(artefacts: Artefacts, model: str) -> Spread | None:
    """Steps on contradictions minus on entailments, by seed; None without pairs of either."""
    means = steps_by_label(artefacts, model)
    if not {"contradiction", "entailment"} <= set(means):
        return None
    return Spread.of(means["contradiction"] - means["entailment"])


def certainty_gap(artefacts: Artefacts, model: str) -> Spread:
    """Accuracy in the fifth of pairs with the most steps minus that with the fewest, by seed."""
    found = fifths(artefacts, model)
    return Spread.of(found["most"]["right"] - found["fewest"]["right"])


def habit_sentences(artefacts: Artefacts, model: str) -> str:
    """On which labels a model takes most and fewest steps, and what its accuracy is with each."""
    found = fifths(artefacts, model)
    if found["most"]["steps"].equals(found["fewest"]["steps"]):
        return f"{title(model)} takes the same number of steps for every pair."
    return f"{_on_labels(artefacts, model)} {_on_accuracy(artefacts, model)}"


def _on_labels(artefacts: Artefacts, model: str) -> str:
    means = steps_by_label(artefacts, model)
    ordered = sorted(means, key=lambda label: means[label].mean())
    least, most = ordered[0], ordered[-1]
    gap = Spread.of(means[most] - means[least])
    clear = gap.clear(artefacts.level)
    few, many = (Spread.of(means[label]).plain() for label in (least, most))
    return (
        f"{title(model)} takes most steps on {LABELS[most]} ({many}) and fewest on "
        f"{LABELS[least]} ({few}): {'a' if clear else 'not a'} clear difference."
    )


def _on_accuracy(artefacts: Artefacts, model: str) -> str:
    found = fifths(artefacts, model)
    few, many = (f"{Spread.of(found[part]['right']).percent()} %" for part in ("fewest", "most"))
    gap = certainty_gap(artefacts, model)
    how = "do not clearly go with more or fewer right answers"
    if gap.clear(artefacts.level):
        how = f"clearly go with {'more' if gap.mean > 0 else 'fewer'} right answers"
    return (
        f"It is right in {many} of the fifth of the pairs with the most steps and in {few} of that "
        f"with the fewest: more steps {how} ({gap.points()} points)."
    )


def label_table(artefacts: Artefacts) -> Table:
    """Mean steps by gold label, a row per model."""
    counts = artefacts.predictions.drop_duplicates("pair_id")["label"].value_counts()
    labels = [label for label in LABELS if label in counts]
    header = ["model", *(f"steps on {LABELS[label]} ({counts[label]:,} pairs)" for label in labels)]
    rows = []
    for model in halting_models(artefacts):
        means = steps_by_label(artefacts, model)
        cells = [Spread.of(means[x]).plain() if x in means else DASH for x in labels]
        rows.append([title(model), *cells])
    return Table(header, rows)


def fifth_table(artefacts: Artefacts) -> Table:
    """Accuracy and labels by fifths of the pairs, five rows per model."""
    header = ["model", "fifth of the pairs, by steps", "mean steps", "accuracy, %"]
    header += [f"{labels}, % of them" for labels in LABELS.values()]
    rows = []
    for model in halting_models(artefacts):
        for part, means in fifths(artefacts, model).items():
            steps, right = Spread.of(means["steps"]).plain(), Spread.of(means["right"]).percent()
            shares = [f"{100 * means[label].mean():.0f}" for label in LABELS]
            rows.append([title(model), part, steps, right, *shares])
    return Table(header, rows, left=2)


def habits_note(artefacts: Artefacts) -> str:
    """How to read sentences and tables."""
    pairs = int(artefacts.results["test_pairs"].iloc[0])
    return (
        f"Steps on the {pairs:,} test pairs, within each seed, then mean ± sd over seeds. Each "
        "fifth has the same number of pairs; pairs of as many steps, through which a border runs, "
        "count in part on both sides. Differences are paired by seed and called clear as above; "
        "the labels with the most and the fewest steps are chosen by these very figures, which "
        "makes *clear* easier to reach."
    )


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
