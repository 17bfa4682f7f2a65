"""The browser of traced questions: what readers wrote over the query, and said, step by step."""

from collections.abc import Sequence
from typing import Any

from reports.page.browser import RIGHT, any_of, browser, choice
from reports.page.island import Island
from reports.stored.queries import QueryStep, Traced
from reports.studies.nse.published import KINDS

LINK = "Questions, step by step: what a reader writes over the query"
DIGITS = 3  # of a share: more cannot be seen


def questions_island(traced: Sequence[Traced]) -> Island:
    """The browser of at least one traced question."""
    kinds = list(dict.fromkeys(one.kind for one in traced))
    runs = list(dict.fromkeys((one.run, one.seed) for one in traced))
    names = [f"{run}, seed {seed}" for run, seed in runs]
    filters = (
        choice("Questions", "kind", any_of(KINDS[kind].title for kind in kinds), len(kinds) > 1),
        choice("Reader", "run", any_of(names), len(runs) > 1),
        choice("The answer is", "right", RIGHT),
        choice("The first step by itself is", "first", RIGHT),
    )
    searched = "Words of a query, or its candidates"
    html = browser("questions", "question", _intro(traced, kinds, names), searched, filters)
    return Island("questions", LINK, html, _data(traced, kinds, runs, names))


def _intro(traced: Sequence[Traced], kinds: Sequence[str], names: Sequence[str]) -> str:
    asked = len({(one.kind, one.number) for one in traced})
    many = "question" if asked == 1 else "questions"
    return (
        f"{asked:,} dev {many} ({', '.join(KINDS[kind].title.lower() for kind in kinds)}) as "
        f"{'; '.join(names)} answered them. At each step a reader looks at the query and the "
        "document, writes what it found there over words of the query, and could answer; XXXXX "
        "stands for the word that is asked for. A key near 0 marks a word to be written over, a "
        "gate near 1 keeps it all the same."
    )


def _data(
    traced: Sequence[Traced],
    kinds: Sequence[str],
    runs: Sequence[tuple[str, int]],
    names: Sequence[str],
) -> dict[str, Any]:
    """What the script reads: each question once, and what each reader did with it."""
    places: dict[tuple[str, int], int] = {}
    questions: list[dict[str, Any]] = []
    for one in traced:
        if (one.kind, one.number) not in places:
            places[one.kind, one.number] = len(questions)
            asked = {"kind": kinds.index(one.kind), "number": one.number, "answer": one.answer}
            words = {"document": one.document, "query": one.query, "candidates": one.candidates}
            questions.append(asked | words)
    return {
        "kinds": [KINDS[kind].title for kind in kinds],
        "codes": kinds,
        "runs": names,
        "questions": questions,
        "traces": [
            {
                "question": places[one.kind, one.number],
                "run": runs.index((one.run, one.seed)),
                "predicted": one.predicted,
                "attended": one.attended,
                "steps": [_step(step) for step in one.steps],
            }
            for one in traced
        ],
    }


def _step(step: QueryStep) -> dict[str, Any]:
    def shares(values: Sequence[float]) -> list[float]:
        return [round(value, DIGITS) for value in values]

    return {
        "key": shares(step.key),
        "gate": None if step.gate is None else shares(step.gate),
        "halting": None if step.halting is None else round(step.halting, DIGITS),
        "weight": round(step.weight, DIGITS),
        "answer": step.answer,
        "probability": round(step.probability, DIGITS),
    }
