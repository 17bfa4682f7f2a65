"""Traced pairs and questions: what a model did with each of them, step by step."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actmodels.rows.pairs import COUNTS
from reports.stored.reading import read_json, read_lines

BLANK = "XXXXX"  # stands in a query for the word that is asked for


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a pair: shares in [0, 1], attention token by token.

    label: what the state after this step would answer by itself, with `probabilities` by label.
    """

    halting: float
    weight: float
    label: str
    probabilities: tuple[float, ...]
    premise: list[float]
    hypothesis: list[float]


@dataclass(frozen=True, slots=True)
class Example:
    """One pair as one retrained model saw it; `answer` has the probability of each label."""

    model: str
    seed: int
    pair_id: str
    label: str
    depth: int
    premise: list[str]
    hypothesis: list[str]
    predicted: str
    answer: tuple[float, ...]
    outcome: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Counted:
    """How many pairs of one retrained model were traced, were right, and had each outcome."""

    model: str
    seed: int
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Examples:
    """The traced pairs in stored order, and their counts by model and seed.

    labels: of `answer` and `probabilities`, in their order.
    """

    labels: tuple[str, ...]
    pairs: tuple[Example, ...]
    counted: tuple[Counted, ...]


def read_examples(root: Path) -> Examples:
    """Read artefacts/trace/.

    Raises:
        ArtefactError: a file is missing.
    """
    lines = read_lines(root, "trace/traces.jsonl")
    counted = tuple(
        Counted(model, int(seed.removeprefix("seed_")), {name: found[name] for name in COUNTS})
        for model, seeds in read_json(root, "trace/summary.json").items()
        for seed, found in seeds.items()
    )
    labels = tuple(lines[0]["answer"]) if lines else ()
    return Examples(labels, tuple(map(_example, lines)), counted)


def _example(line: dict[str, Any]) -> Example:
    return Example(
        *(line["model"], line["seed"], line["pair_id"], line["label"], line["depth"]),
        *(line["premise"], line["hypothesis"], line["predicted"], tuple(line["answer"].values())),
        line["outcome"],
        tuple(_step(step, line["answer"]) for step in line["trace"]),
    )


def _step(step: dict[str, Any], labels: Iterable[str]) -> Step:
    return Step(
        *(step["halting_probability"], step["weight"], step["class"]),
        tuple(step["class_probabilities"][label] for label in labels),
        *(step["premise_attention"], step["hypothesis_attention"]),
    )


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

    questions: their kind, as KINDS names it. number: its place in dev. attended: the words of the
    document with most attention over all steps.
    """

    questions: str
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
    return tuple(
        Traced(**line | {"steps": tuple(QueryStep(**step) for step in line["steps"])})
        for line in read_lines(root, "nse/queries.jsonl")
    )
