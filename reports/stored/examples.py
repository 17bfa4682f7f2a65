"""The traced pairs and their counts, as the stage `trace` stores them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actmodels.rows.pairs import COUNTS
from reports.stored.reading import read_json, read_lines


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
    lines = read_lines(root, "trace/traces.jsonl", lambda line: (tuple(line["answer"]), line))
    counted = tuple(
        Counted(model, int(seed.removeprefix("seed_")), {name: found[name] for name in COUNTS})
        for model, seeds in read_json(root, "trace/summary.json").items()
        for seed, found in seeds.items()
    )
    pairs = tuple(_example(line) for _, line in lines)
    return Examples(lines[0][0] if lines else (), pairs, counted)


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
