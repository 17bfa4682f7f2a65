"""The browsers of traced pairs and questions; page_browser.js and a script each give them life."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from actmodels.rows.pairs import OUTCOMES
from reports.blocks import Island
from reports.findings import counted
from reports.spread import title
from reports.stored.traces import Example, Examples, Traced
from reports.studies.nse.published import KINDS
from reports.tables.step_habits import WORDS

RIGHT = {"": "right or wrong", "1": "right", "0": "wrong"}
BASE_32 = "0123456789abcdefghijklmnopqrstuv"
ORDERS = {
    "stored": "as stored",
    "most": "most steps first",
    "fewest": "fewest steps first",
    "sure": "most confident first",
    "unsure": "least confident first",
}
PER_MILLE = [BASE_32[n // 32] + BASE_32[n % 32] for n in range(1001)]  # two signs of base 32
LINK = "Questions, step by step: what a reader writes over the query"
DECIMALS = 3  # of a share: more cannot be seen


def browser(name: str, one: str, intro: str, searched: str, filters: Iterable[str]) -> str:
    """The controls of the island `name`, and where it shows what is chosen.

    one: what an example is called. searched: what the search looks at. filters: see `choice`.
    """
    template = Template(Path(__file__).with_name("page_browser.html").read_text(encoding="utf-8"))
    nouns = {"one": one, "many": f"{one}s", "Many": f"{one}s".capitalize()}
    given = {"name": name, "intro": escape(intro), "searched": searched}
    return template.substitute(nouns | given, filters="\n".join(filters))


def choice(label: str, name: str, options: dict[str, str], shown: bool = True) -> str:
    """A field of a browser's form where one option, words by value, is chosen."""
    words = (f'<option value="{key}">{escape(word)}</option>' for key, word in options.items())
    hidden = "" if shown else " hidden"
    return f'<label{hidden}>{label} <select name="{name}">{"".join(words)}</select></label>'


def any_of(words: Iterable[str], unchosen: str = "any") -> dict[str, str]:
    """Options whose values are their places, after one for all of them."""
    return {"": unchosen} | {str(at): word for at, word in enumerate(words)}


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
    intro = _pairs_intro(names, len(shown), len(examples.pairs))
    html = browser("examples", "pair", intro, "Words or a pair id", filters)
    data = {
        "labels": examples.labels,
        "outcomes": [WORDS[outcome] for outcome in OUTCOMES],
        "runs": names,
        "pairs": [
            packed(pair, runs.index((pair.model, pair.seed)), examples.labels) for pair in shown
        ],
    }
    return Island("examples", "Pairs, step by step", html, data)


def _pairs_intro(names: Sequence[str], shown: int, traced: int) -> str:
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


def packed(pair: Example, run: int, labels: Sequence[str]) -> str:
    """A pair as eight fields between tabs, which no token holds; a script takes it apart.

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


def questions_island(traced: Sequence[Traced]) -> Island:
    """The browser of at least one traced question."""
    kinds = list(dict.fromkeys(one.questions for one in traced))
    runs = list(dict.fromkeys((one.run, one.seed) for one in traced))
    names = [f"{run}, seed {seed}" for run, seed in runs]
    filters = (
        choice("Questions", "kind", any_of(KINDS[kind].title for kind in kinds), len(kinds) > 1),
        choice("Reader", "run", any_of(names), len(runs) > 1),
        choice("The answer is", "right", RIGHT),
        choice("The first step by itself is", "first", RIGHT),
    )
    searched = "Words of a query, or its candidates"
    intro = _questions_intro(traced, kinds, names)
    html = browser("questions", "question", intro, searched, filters)
    return Island("questions", LINK, html, _questions_data(traced, kinds, runs, names))


def _questions_intro(traced: Sequence[Traced], kinds: Sequence[str], names: Sequence[str]) -> str:
    asked = len({(one.questions, one.number) for one in traced})
    of = ", ".join(KINDS[kind].title.lower() for kind in kinds)
    return (
        f"{counted(asked, 'dev question')} ({of}) as {'; '.join(names)} answered them. At each "
        "step a reader looks at the query and the "
        "document, writes what it found there over words of the query, and could answer; XXXXX "
        "stands for the word that is asked for. A key near 0 marks a word to be written over, a "
        "gate near 1 keeps it all the same."
    )


def _questions_data(
    traced: Sequence[Traced],
    kinds: Sequence[str],
    runs: Sequence[tuple[str, int]],
    names: Sequence[str],
) -> dict[str, Any]:
    """What the script reads: each question once, and what each reader did with it."""
    places: dict[tuple[str, int], int] = {}
    questions: list[dict[str, Any]] = []
    for one in traced:
        if (one.questions, one.number) not in places:
            places[one.questions, one.number] = len(questions)
            asked = {"kind": kinds.index(one.questions), "number": one.number, "answer": one.answer}
            words = {"document": one.document, "query": one.query, "candidates": one.candidates}
            questions.append(asked | words)
    return {
        "kinds": [KINDS[kind].title for kind in kinds],
        "codes": kinds,
        "runs": names,
        "questions": questions,
        "traces": [
            {
                "question": places[one.questions, one.number],
                "run": runs.index((one.run, one.seed)),
                "predicted": one.predicted,
                "attended": one.attended,
                "steps": [_rounded(asdict(step)) for step in one.steps],
            }
            for one in traced
        ],
    }


def _rounded(value: Any) -> Any:
    """The same with fewer decimals, also inside of lists and mappings."""
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    return round(value, DECIMALS) if isinstance(value, float) else value
