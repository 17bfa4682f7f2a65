"""The part of the fixture that Graves' tasks are: called by write_studies.

Parity of 8 entries, which ACT learns, and addition of Graves' own digits, which it does not change.
Figures at the best epoch are chosen by hand; by difficulty they are lines through the same means.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from actmodels.rows.columns import columns
from actmodels.rows.sequences import (
    AtDifficulty,
    SequenceEpoch,
    SequenceResult,
    SequenceTime,
)

Table = tuple[list[str], list[list[Any]]]
EPOCHS, BEST = 4, 3


@dataclass(frozen=True)
class Made:
    """A run: dev error of seeds 1, 2, 3; and their mean steps with steps for each difficulty."""

    halting: str
    ponder_weight: float | None
    parameters: int
    errors: tuple[float, float, float]
    steps: tuple[float, float, float] | None = None
    slopes: tuple[float, float, float] = (0.0, 0.0, 0.0)


# The difficulties of each task, and how many instances of each have a target.
LEVELS = {"parity": (range(1, 9), 125, 125), "addition": (range(1, 6), 200, 150)}
RUNS: dict[str, dict[str, Made]] = {
    "parity": {
        "without ACT": Made("none", None, 1201, (0.40, 0.42, 0.38)),
        "ponder weight 0.001": Made(
            "act", 0.001, 1301, (0.04, 0.05, 0.03), (8.0, 9.0, 10.0), (0.5, 0.6, 0.4)
        ),
        "ponder weight 0.01": Made(
            "act", 0.01, 1301, (0.30, 0.10, 0.20), (4.0, 5.0, 6.0), (0.1, -0.1, 0.0)
        ),
    },
    "addition": {
        "without ACT": Made("none", None, 5003, (0.20, 0.22, 0.24)),
        "ponder weight 5e-05": Made(
            "act", 5e-05, 5105, (0.22, 0.20, 0.24), (3.0, 3.0, 3.0), (0.5, 0.5, 0.5)
        ),
        "3 steps": Made("fixed_steps", None, 5105, (0.25, 0.27, 0.26), (3.0, 3.0, 3.0)),
    },
}
DIVERGED = ("addition", "3 steps", 3)


def each() -> Iterator[tuple[list[Any], Made, int]]:
    """Every run with its place in the tables and that of its seed's figures."""
    for task, runs in RUNS.items():
        for name, made in runs.items():
            for at in range(3):
                yield [task, name, at + 1], made, at


def graves() -> dict[str, Table]:
    """All files of the stage."""
    results: list[list[Any]] = []
    levels: list[list[Any]] = []
    history: list[list[Any]] = []
    seconds: list[list[Any]] = []
    for place, made, at in each():
        task, name, seed = place
        error, mean = made.errors[at], made.steps and made.steps[at]
        spread = None if mean is None else 0.5
        paid = made.halting == "act"  # fixed steps cost nothing
        cost = mean + 0.5 if mean is not None and paid else None
        row = [task, name, made.halting, made.ponder_weight, seed, f"{task[0]}{len(results):02d}"]
        row += [made.parameters, EPOCHS, BEST, tuple(place) == DIVERGED, error, 2 * error]
        results.append([*row, mean, spread, cost])
        of, instances, asked = LEVELS[task]
        middle = (of[0] + of[-1]) / 2
        for level in of:
            taken = None if mean is None else round(mean + made.slopes[at] * (level - middle), 4)
            price = taken + 0.5 if taken is not None and paid else None
            wrong = round(error * level / middle, 4)
            levels.append([*place, level, instances, asked, wrong, taken, price])
        for epoch in range(1, EPOCHS + 1):
            worse = round(error + 0.05 * abs(BEST - epoch), 4)
            history.append([*place, epoch, round(0.9 - 0.1 * epoch, 4), 2 * worse, worse, mean])
        seconds.append([*place, EPOCHS, 20.0])
    return {
        "results.csv": (columns(SequenceResult), results),
        "difficulty.csv": (columns(AtDifficulty), levels),
        "history.csv": (columns(SequenceEpoch), history),
        "timings.csv": (columns(SequenceTime), seconds),
    }
