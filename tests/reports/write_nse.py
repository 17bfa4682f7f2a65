"""The part of the fixture that readers of cloze questions are: called by write_fixture.

Names, which more steps help to find, and common nouns, which they do not. Accuracies are chosen by
hand; curves, weights and traces follow simple rules from them.
"""

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from actmodels.rows.columns import columns
from actmodels.rows.readers import (
    Baseline,
    ReaderEpoch,
    ReaderMeans,
    ReaderResult,
    ReaderStep,
    ReaderTime,
)
from tests.reports.write_csv import write_csv

EPOCHS, BEST, SEEDS = 4, 3, (1, 2, 3)
GATING, ADAPTIVE = "query_gating", "adaptive_computation"
Triple = tuple[float, float, float]


@dataclass(frozen=True)
class Made:
    """A run: accuracies and mean steps of seeds 1, 2, 3; ends of the interval, and largest p."""

    strategy: str
    steps: int
    parameters: int
    dev: Triple
    test: Triple
    taken: Triple
    compared: Triple = (0.0, 0.0, 1.0)


ONE, GATED, HALTING = "one step", "query gating, 6 steps", "adaptive computation, 6 steps"
ALL = (6.0, 6.0, 6.0)
RUNS: dict[str, dict[str, Made]] = {
    "NE": {
        ONE: Made(GATING, 1, 2002, (0.60, 0.61, 0.62), (0.57, 0.58, 0.59), (1.0, 1.0, 1.0)),
        GATED: Made(
            *(GATING, 6, 3003, (0.64, 0.65, 0.66), (0.60, 0.62, 0.61), ALL),
            (0.012, 0.048, 0.03),
        ),
        HALTING: Made(
            *(ADAPTIVE, 6, 3011, (0.66, 0.68, 0.67), (0.56, 0.60, 0.61), (2.4, 2.6, 2.5)),
            (-0.011, 0.031, 0.4),
        ),
    },
    "CN": {
        ONE: Made(GATING, 1, 2002, (0.55, 0.56, 0.57), (0.52, 0.53, 0.54), (1.0, 1.0, 1.0)),
        GATED: Made(
            *(GATING, 6, 3003, (0.56, 0.57, 0.58), (0.50, 0.51, 0.52), ALL),
            (-0.036, -0.004, 0.02),
        ),
        HALTING: Made(
            *(ADAPTIVE, 6, 3011, (0.55, 0.57, 0.56), (0.53, 0.55, 0.54), (1.05, 1.1, 1.0)),
            (0.001, 0.019, 0.04),
        ),
    },
}
# Questions, mean number of candidates, accuracy of a random and of the most frequent one.
BASELINES: dict[str, dict[str, tuple[int, float, float, float]]] = {
    "NE": {
        "train": (1000, 3.2, 0.32, 0.36),
        "dev": (200, 3.1, 0.33, 0.37),
        "test": (200, 3.0, 0.34, 0.35),
    },
    "CN": {
        "train": (900, 4.0, 0.25, 0.5),
        "dev": (150, 4.0, 0.25, 0.49),
        "test": (150, 4.0, 0.25, 0.5),
    },
}
# Kind, place in dev, document, query, candidates (the first is the answer).
QUESTIONS = (
    (
        *("NE", 4),
        "Mara locked the boat shed and gave its key to Owen . `` Keep it dry , '' said Mara . "
        "Owen hid the key under a tile . In the evening Tessa asked for it , but Owen had gone "
        "to the harbour . Tessa lifted every tile until the key fell out .",
        "Next day XXXXX told Mara where the key had been .",
        ("Tessa", "Mara", "Owen"),
    ),
    (
        *("NE", 17),
        "Ilse planted beans and Jorn planted corn . A hen ate the corn , so Jorn laughed and "
        "asked Ilse for beans . Ilse gave Jorn a sack of them .",
        "In spring XXXXX grew beans too .",
        ("Jorn", "Ilse"),
    ),
    (
        *("CN", 3),
        "The baker took a lamp down to the cellar . Behind the barrels she found a rope and a "
        "loaf as hard as stone . The lamp went out , and she climbed back by the rope .",
        "Her hands on the XXXXX , she counted the stairs .",
        ("rope", "lamp", "loaf", "cellar"),
    ),
)


def each() -> Iterator[tuple[list[Any], Made, int]]:
    """Every run with its place in the tables and that of its seed's figures."""
    for kind, runs in RUNS.items():
        for name, made in runs.items():
            for at, seed in enumerate(SEEDS):
                yield [kind, name, seed], made, at


def weights(made: Made, mean: float) -> list[float]:
    """The last step alone, or a share of the first and the rest evenly, with that mean."""
    if made.strategy == GATING:
        return [0.0] * (made.steps - 1) + [1.0]
    even = (mean - 1) / ((made.steps + 1) / 2 - 1)
    return [even / made.steps + (1 - even) * (step == 0) for step in range(made.steps)]


def tables() -> dict[str, tuple[list[str], list[list[Any]]]]:
    """All tables of the stage but runs.csv."""
    results: list[list[Any]] = []
    history: list[list[Any]] = []
    steps: list[list[Any]] = []
    for place, made, at in each():
        dev, test, taken = made.dev[at], made.test[at], made.taken[at]
        spread = 0.5 if made.strategy == ADAPTIVE else 0.0
        row = [*place[:2], made.strategy, made.steps, place[2], f"q{len(results):02d}"]
        row += [made.parameters, EPOCHS, BEST, False, dev, 1.5 - dev, taken, spread]
        results.append([*row, test, BASELINES[place[0]]["test"][0], taken])
        for epoch in range(1, EPOCHS + 1):
            now = round(dev - 0.02 * abs(BEST - epoch), 4)
            training = round(dev + 0.01 * (epoch - 1) * made.steps**0.5, 4)
            losses = [round(1.6 - 0.2 * epoch, 4), round(1.5 - now, 4)]
            history.append([*place, epoch, losses[0], training, losses[1], now, taken])
        for step, weight in enumerate(weights(made, taken), start=1):
            steps.append([*place, step, weight, round(dev - 0.04 * (made.steps - step), 4)])
    lines = [
        [k, "text stories", split, *row]
        for k, splits in BASELINES.items()
        for split, row in splits.items()
    ]
    return {
        "results.csv": (columns(ReaderResult), results),
        "baselines.csv": (columns(Baseline), lines),
        "history.csv": (columns(ReaderEpoch), history),
        "steps.csv": (columns(ReaderStep), steps),
        "timings.csv": (columns(ReaderTime), [[*p, EPOCHS, 40.0] for p, _, _ in each()]),
    }


def intervals() -> dict[tuple[str, str], Triple]:
    """Low and high end and largest p of each run."""
    return {
        (kind, name): made.compared for kind, runs in RUNS.items() for name, made in runs.items()
    }


def settle(root: Path) -> None:
    """Write runs.csv of the rows that results.csv has; intervals by hand."""
    with (root / "nse" / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    runs: list[list[Any]] = []
    for kind, name in dict.fromkeys((row["questions"], row["run"]) for row in rows):
        seeds = [row for row in rows if (row["questions"], row["run"]) == (kind, name)]
        low, high, p = intervals()[kind, name]
        cells: list[Any] = [kind, name, seeds[0]["strategy"], seeds[0]["steps"], len(seeds)]
        for split in ("dev", "test"):
            found = [float(row[f"{split}_accuracy"]) for row in seeds]
            cells += [fmean(found), stdev(found) if len(found) > 1 else None]
        taken = [float(row["test_mean_steps"]) for row in seeds if row["test_mean_steps"]]
        first = next(run for run in [*runs, cells] if run[0] == kind)
        difference = round(cells[7] - first[7], 12)
        cells += [fmean(taken) if taken else None, difference, low, high, p]
        runs.append([*cells, seeds[0]["test_questions"]])
    write_csv(root / "nse" / "runs.csv", columns(ReaderMeans), runs)


def step_of(words: list[str], run: str, candidates: Sequence[str], t: int) -> dict[str, Any]:
    """What the step t of six does: less is rewritten from step to step, the blank never much."""
    blank, last, gated = words.index("XXXXX"), t == 6, run == GATED
    key = [round(min(0.99, 0.1 + 0.12 * t + 0.05 * (at % 4)), 4) for at in range(len(words))]
    key[blank] = round(0.9 + 0.01 * t, 4)
    gate = [round(min(1.0, 0.1 + 0.2 * t + 0.02 * (at % 3)), 4) for at in range(len(words))]
    answer = candidates[0] if t > 2 or len(candidates) == 2 else candidates[1]
    return {
        "key": key,
        "gate": gate if gated and not last else None,
        "halting": None if gated or last else round(0.1 * t, 4),
        "weight": (1.0 if last else 0.0) if gated else round(0.1 if t < 6 else 0.5, 4),
        "answer": answer,
        "probability": round(0.3 + 0.08 * t, 4),
    }


def queries() -> list[dict[str, Any]]:
    """The traced questions; the second candidate is what the halting run says of nouns."""
    lines = []
    for kind, number, document, query, candidates in QUESTIONS:
        for run in (GATED, HALTING):
            wrong = kind == "CN" and run == HALTING
            lines.append(
                {
                    **{"questions": kind, "run": run, "seed": 1, "number": number},
                    **{"document": document.split(), "query": query.split()},
                    **{"candidates": sorted(candidates), "answer": candidates[0]},
                    "predicted": candidates[1 if wrong else 0],
                    "attended": [*candidates[:2], document.split()[1]],
                    "steps": [step_of(query.split(), run, candidates, t) for t in range(1, 7)],
                }
            )
    return lines


def write_queries(root: Path, lines: Sequence[dict[str, Any]]) -> None:
    """The traced questions, a line each."""
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    (root / "nse" / "queries.jsonl").write_text(text, encoding="utf-8")


def write_nse(root: Path) -> None:
    """Write artefacts/nse/ under `root`."""
    for file, (header, rows) in tables().items():
        write_csv(root / "nse" / file, header, rows)
    settle(root)
    write_queries(root, queries())
