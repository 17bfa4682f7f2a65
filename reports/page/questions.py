"""The browser of traced questions: what readers wrote over the query, and said, step by step."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from reports.page.island import Island
from reports.stored.queries import QueryStep, Traced
from reports.studies.nse.published import KINDS

LINK = "Questions, step by step: what a reader writes over the query"
DIGITS = 3  # of a share: more cannot be seen


def questions_island(traced: Sequence[Traced]) -> Island:
    """The browser of at least one traced question."""
    template = Template(Path(__file__).with_suffix(".html").read_text(encoding="utf-8"))
    kinds = list(dict.fromkeys(one.kind for one in traced))
    runs = list(dict.fromkeys((one.run, one.seed) for one in traced))
    names = [f"{run}, seed {seed}" for run, seed in runs]
    html = template.substitute(
        intro=_intro(traced, kinds, names),
        one_kind="" if len(kinds) > 1 else " hidden",
        kinds=_options([KINDS[kind].title for kind in kinds]),
        one_run="" if len(runs) > 1 else " hidden",
        runs=_options(names),
    )
    return Island("questions", LINK, html, _data(traced, kinds, runs, names))


def _intro(traced: Sequence[Traced], kinds: Sequence[str], names: Sequence[str]) -> str:
    asked = len({(one.kind, one.number) for one in traced})
    many = "question" if asked == 1 else "questions"
    return escape(
        f"{asked:,} dev {many} ({', '.join(KINDS[kind].title.lower() for kind in kinds)}) as "
        f"{'; '.join(names)} answered them. At each step a reader looks at the query and the "
        "document, writes what it found there over words of the query, and could answer; XXXXX "
        "stands for the word that is asked for. A key near 0 marks a word to be written over, a "
        "gate near 1 keeps it all the same."
    )


def _options(words: Iterable[str]) -> str:
    """Any, and options whose values are their places."""
    options = (f'<option value="{at}">{escape(word)}</option>' for at, word in enumerate(words))
    return '<option value="">any</option>' + "".join(options)


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
