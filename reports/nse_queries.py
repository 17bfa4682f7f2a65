"""Traced questions: what a reader did to the words of a query, step by step."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reports.nse_published import ADAPTIVE, GATING
from reports.reading import Source

BLANK = "XXXXX"  # stands in a query for the word that is asked for
MOST_ATTENDED = 3
KEYS: Mapping[str, type] = {
    **{"questions": str, "run": str, "seed": int, "number": int, "document": list},
    **{"query": list, "candidates": list, "answer": str, "predicted": str, "attended": list},
    "steps": list,
}
STEP_KEYS = ("key", "gate", "halting", "weight", "answer", "probability")
NAMED = {str: "text", int: "a whole number", list: "a list"}
NEARLY = 5e-3  # of a sum whose parts may be rounded
ROUNDING = 1e-6  # of a share in single precision
Readers = Mapping[tuple[str, str, int], tuple[str, int]]  # strategy and steps by kind, run, seed


@dataclass(frozen=True, slots=True)
class QueryStep:
    """One step of a traced question; shares in [0, 1].

    key: z_t of each word of the query, near 0 where the step would write over it.
    gate: g_t of each, near 1 where the old word is kept; None without gates and at the last step.
    halting: e_t; None unless the reader halts, and at the last step.
    weight: p_t, what this step counts in the answer. answer: what the step would say by itself,
    with its probability.
    """

    key: list[float]
    gate: list[float] | None
    halting: float | None
    weight: float
    answer: str
    probability: float

    @property
    def rewritten(self) -> list[float]:
        """Share of each word that the step writes over: 1 - z_t, or (1 - z_t)(1 - g_t)."""
        gates = self.gate or [0.0] * len(self.key)
        return [(1 - key) * (1 - gate) for key, gate in zip(self.key, gates, strict=True)]


@dataclass(frozen=True, slots=True)
class Traced:
    """A dev question as one trained reader answered it.

    kind: of question, as KINDS names it. number: its place in dev. attended: the words of the
    document with most attention over all steps.
    """

    kind: str
    run: str
    seed: int
    number: int
    document: list[str]
    query: list[str]
    candidates: list[str]
    answer: str
    predicted: str
    attended: list[str]
    steps: tuple[QueryStep, ...]

    @property
    def right(self) -> bool:
        """Whether the question was answered rightly."""
        return self.predicted == self.answer

    @property
    def question(self) -> tuple[Any, ...]:
        """What is asked, whoever answers."""
        return (self.document, self.query, self.candidates, self.answer)


def read_queries(source: Source, readers: Readers) -> tuple[Traced, ...]:
    """The traced questions in stored order.

    Raises:
        ArtefactError: the file is missing, or a line is damaged or of no known run.
    """
    found: dict[tuple[str, str, int, int], Traced] = {}
    asked: dict[tuple[str, int], Traced] = {}
    text = source.read()
    for at, part in enumerate(text.removesuffix("\n").split("\n") if text else (), start=1):
        try:
            line = json.loads(part, parse_constant=_no_number)
            one = _traced(line, readers)
            place = (one.kind, one.run, one.seed, one.number)
            if place in found:
                raise ValueError(f"has {_said(one)} again")
            other = asked.setdefault((one.kind, one.number), one)
            if other.question != one.question:
                raise ValueError(f"{_said(one)} is not the question that {_said(other)} is")
        except json.JSONDecodeError as error:
            raise source.damaged(f"is not JSON ({error.msg})", at) from error
        except ValueError as error:
            raise source.damaged(str(error), at) from error
        found[place] = one
    return tuple(found.values())


def _said(one: Traced) -> str:
    return f"question {one.number} of {one.kind}, {one.run}, seed {one.seed}"


def _no_number(name: str) -> None:
    raise ValueError(f"has {name}, which is no number")


def _traced(line: Any, readers: Readers) -> Traced:
    if not isinstance(line, dict):
        raise ValueError("the line must be a mapping")
    if absent := [key for key in KEYS if key not in line]:
        raise ValueError(f"has no key {', '.join(absent)}")
    for key, kind in KEYS.items():
        if type(line[key]) is not kind:
            raise ValueError(f"{key} is {line[key]!r}; must be {NAMED[kind]}")
    place = (line["questions"], line["run"], line["seed"])
    if place not in readers:
        kind, run, seed = place
        raise ValueError(f"has seed {seed} of {kind}, {run}, which results.csv has not")
    _check_words(line)
    steps = tuple(_steps(line, *readers[place]))
    if abs((total := sum(step.weight for step in steps)) - 1) > NEARLY:
        raise ValueError(f"weights of the steps add up to {total:.6g}; must add up to 1")
    return Traced(
        *(*place, line["number"], line["document"], line["query"], line["candidates"]),
        *(line["answer"], line["predicted"], line["attended"], steps),
    )


def _check_words(line: dict[str, Any]) -> None:
    for key in ("document", "query", "candidates", "attended"):
        if not line[key] or not all(type(word) is str for word in line[key]):
            raise ValueError(f"{key} must be a list of one or more words")
    if BLANK not in line["query"]:
        raise ValueError(f"query has no {BLANK}; must have one where the answer is missing")
    candidates = line["candidates"]
    if len(set(candidates)) < len(candidates):
        raise ValueError("candidates has a word twice")
    for key in ("answer", "predicted"):
        _check_candidate(line[key], key, candidates)
    if len(line["attended"]) > MOST_ATTENDED:
        has = len(line["attended"])
        raise ValueError(f"attended has {has} words; must have {MOST_ATTENDED} at most")
    for word in line["attended"]:
        if word not in line["document"]:
            raise ValueError(f"attended has {word!r}, which is not in the document")


def _check_candidate(word: Any, what: str, candidates: list[str]) -> None:
    if word not in candidates:
        raise ValueError(f"{what} is {word!r}; must be one of {', '.join(candidates)}")


def _steps(line: dict[str, Any], strategy: str, count: int) -> Iterator[QueryStep]:
    if len(line["steps"]) != count:
        raise ValueError(f"has {len(line['steps'])} steps; must have {count}, as its run")
    for number, step in enumerate(line["steps"], start=1):
        try:
            if not isinstance(step, dict):
                raise ValueError("it must be a mapping")
            if absent := [key for key in STEP_KEYS if key not in step]:
                raise ValueError(f"has no key {', '.join(absent)}")
            for key in ("key", "gate"):
                _check_slots(step, key, len(line["query"]))
            last = number == count
            _check_null(step, "gate", strategy == GATING, last)
            _check_null(step, "halting", strategy == ADAPTIVE, last)
            shares = [step[key] for key in ("halting", "weight", "probability")]
            for key, value in zip(("halting", "weight", "probability"), shares, strict=True):
                _check_share(key, 0 if key == "halting" and value is None else value)
            _check_candidate(step["answer"], "answer", line["candidates"])
            yield QueryStep(*(step[key] for key in STEP_KEYS))
        except ValueError as error:
            raise ValueError(f"step {number}: {error}") from error


def _check_slots(step: dict[str, Any], key: str, words: int) -> None:
    """A number for each word of the query."""
    values = step[key]
    if values is None and key == "gate":
        return
    if not isinstance(values, list) or len(values) != words:
        has = f"{len(values)} numbers" if isinstance(values, list) else repr(values)
        raise ValueError(f"{key} has {has} where query has {words} words")
    for value in values:
        _check_share(key, value)


def _check_null(step: dict[str, Any], key: str, own: bool, last: bool) -> None:
    """What only one strategy has is there at all of its steps but the last."""
    if own and not last and step[key] is None:
        raise ValueError(f"{key} is null; only the last step has none")
    if step[key] is not None and (last or not own):
        why = "the last step writes nothing" if own else "its run has none"
        raise ValueError(f"{key} is {step[key]!r}; must be null, as {why}")


def _check_share(key: str, value: Any) -> None:
    if type(value) not in (int, float) or not -ROUNDING <= value <= 1 + ROUNDING:
        raise ValueError(f"{key} has {value!r}; must be a number between 0 and 1")
