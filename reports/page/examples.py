"""The browser of traced pairs: what a model looked at, and would have answered, step by step."""

from collections.abc import Sequence
from typing import Any

from actmodels.rows.pairs import OUTCOMES
from reports.page.browser import RIGHT, any_of, browser, choice
from reports.page.island import Island
from reports.spread import title
from reports.stored.examples import Example, Examples
from reports.tables.examples import WORDS

DIGITS = "0123456789abcdefghijklmnopqrstuv"
ORDERS = {
    "stored": "as stored",
    "most": "most steps first",
    "fewest": "fewest steps first",
    "sure": "most confident first",
    "unsure": "least confident first",
}
PER_MILLE = [DIGITS[n // 32] + DIGITS[n % 32] for n in range(1001)]  # two signs of base 32


def examples_island(examples: Examples, most: int) -> Island:
    """The browser of the first `most` traced pairs."""
    shown = examples.pairs[:most]
    runs = list(dict.fromkeys((pair.model, pair.seed) for pair in shown))
    names = [f"{title(model)}, seed {seed}" for model, seed in runs]
    steps = sorted({len(pair.steps) for pair in shown})
    effects = any_of([WORDS[outcome] for outcome in OUTCOMES], "any effect")
    filters = (
        choice("Model and seed", "run", any_of(names), len(runs) > 1),
        choice("Gold label", "label", any_of(examples.labels)),
        choice("Answer", "predicted", any_of(examples.labels)),
        choice("The answer is", "right", RIGHT),
        choice("More steps", "outcome", effects),
        choice("Steps", "steps", {"": "any number"} | {str(n): str(n) for n in steps}),
        choice("Order", "order", ORDERS),
    )
    intro = _intro(names, len(shown), len(examples.pairs))
    html = browser("examples", "pair", intro, "Words or a pair id", filters)
    return Island("examples", "Pairs, step by step", html, _data(examples, shown, runs, names))


def _intro(names: Sequence[str], shown: int, traced: int) -> str:
    if not shown:
        return "No pair was traced (params.yaml: trace.per_label and trace.pair_ids)."
    left_out = (
        ""
        if shown == traced
        else f" They are the first of {traced:,} traced pairs; the others are in "
        "artefacts/trace/traces.jsonl (params.yaml: report.examples)."
    )
    return (
        f"{shown:,} test pairs as {'; '.join(names)} saw them. At each step the model attends to "
        "the hypothesis, then to the premise, and updates its state. The answer is made of the "
        "states by their weights; what a state would answer by itself stands beside it." + left_out
    )


def _data(
    examples: Examples,
    shown: Sequence[Example],
    runs: Sequence[tuple[str, int]],
    names: Sequence[str],
) -> dict[str, Any]:
    """What the script reads; each pair is one text that is taken apart when it is needed."""
    return {
        "labels": examples.labels,
        "outcomes": [WORDS[outcome] for outcome in OUTCOMES],
        "runs": names,
        "pairs": [
            packed(pair, runs.index((pair.model, pair.seed)), examples.labels) for pair in shown
        ],
    }


def packed(pair: Example, run: int, labels: Sequence[str]) -> str:
    """A pair as eight fields between tabs, which no token holds.

    The place of the run, the pair's id, three digits (gold label, answer, outcome, each by its
    place), the recorded depth, premise, hypothesis, what each state would answer (a digit a
    step), and all shares in order, two signs each: of the answer by label; then step by step the
    halting probability, the weight, those of the state by label, and the attention to hypothesis
    and premise, token by token.
    """
    places = (labels.index(pair.label), labels.index(pair.predicted), OUTCOMES.index(pair.outcome))
    shares = [*pair.answer]
    for step in pair.steps:
        shares += [step.halting, step.weight, *step.probabilities]
        shares += [*step.hypothesis, *step.premise]
    return "\t".join(
        [
            *(str(run), pair.pair_id, "".join(map(str, places)), str(pair.depth)),
            *(" ".join(pair.premise), " ".join(pair.hypothesis)),
            "".join(str(labels.index(step.label)) for step in pair.steps),
            "".join(PER_MILLE[round(1000 * value)] for value in shares),
        ]
    )
