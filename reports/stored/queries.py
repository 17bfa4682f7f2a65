"""Traced questions: what a reader did to the words of a query, step by step."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.stored.reading import read_lines

BLANK = "XXXXX"  # stands in a query for the word that is asked for


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


def read_queries(root: Path) -> tuple[Traced, ...]:
    """The traced questions in stored order.

    Raises:
        ArtefactError: the file is missing.
    """
    return tuple(read_lines(root, "nse/queries.jsonl", _traced))


def _traced(line: dict[str, Any]) -> Traced:
    return Traced(
        *(line["questions"], line["run"], line["seed"], line["number"], line["document"]),
        *(line["query"], line["candidates"], line["answer"], line["predicted"], line["attended"]),
        tuple(map(_step, line["steps"])),
    )


def _step(step: dict[str, Any]) -> QueryStep:
    return QueryStep(
        *(step["key"], step["gate"], step["halting"], step["weight"], step["answer"]),
        step["probability"],
    )
