"""The part of the fixture that characters are, among Graves' tasks: called by write_studies.

Bits and steps by kind are chosen by hand; the passage has bytes of every kind, in two lines.
"""

import math
from dataclasses import dataclass
from typing import Any

from actmodels.rows.columns import columns
from actmodels.rows.sequences import ByteRead, BytesOfKind

Table = tuple[list[str], list[list[Any]]]
TASK, EPOCHS, BEST = "characters", 3, 3
PASSAGE = 'The café [[fox]], 12 years\nold, is "red". It naps.\t<br>'.encode()
KINDS = ("letter", "digit", "space", "line end", "sentence end", "comma, colon or semicolon")
KINDS += ("markup or other mark",)
BYTES = dict(zip(KINDS, (7000, 300, 1500, 100, 150, 250, 700), strict=True))
LETTER = (1.5, 1.6, 1.7)  # steps, by seed
# Steps on each kind beyond those on a letter, by seed: clearly more, not clearly, clearly fewer.
BEYOND = {
    "letter": (0.0, 0.0, 0.0),
    "digit": (0.2, 0.2, 0.2),
    "space": (0.5, 0.6, 0.4),
    "line end": (1.0, 1.0, 1.0),
    "sentence end": (0.5, -0.5, 0.0),
    "comma, colon or semicolon": (-0.1, -0.1, -0.1),
    "markup or other mark": (0.3, 0.3, 0.3),
}


@dataclass(frozen=True)
class Made:
    """A run: bits per character and share of bytes wrong, of seeds 1, 2, 3; steps as a factor."""

    ponder_weight: float | None
    bits: tuple[float, float, float]
    wrong: tuple[float, float, float]
    factor: float | None = None


RUNS = {
    "without ACT": Made(None, (3.0, 3.1, 3.2), (0.5, 0.51, 0.52)),
    "ponder weight 0.1": Made(0.1, (2.9, 3.0, 3.1), (0.49, 0.5, 0.51), 1.0),
    "ponder weight 0.03": Made(0.03, (3.3, 3.3, 3.3), (0.55, 0.56, 0.57), 2.0),
}


def nats(bits: float) -> float:
    """Bits as the stage stores them."""
    return round(bits * math.log(2), 6)


def steps(made: Made, kind: str, at: int) -> float | None:
    """Mean steps of a seed on a kind."""
    if made.factor is None:
        return None
    return round(made.factor * (LETTER[at] + BEYOND[kind][at]), 4)


def figures(made: Made, at: int, place: int) -> list[Any]:
    """A run's rows of bytes.csv, without their place."""
    kind = KINDS[place]
    taken = steps(made, kind, at)
    ponder = None if taken is None else taken + 0.5
    return [kind, BYTES[kind], taken, ponder, nats(2 + 0.1 * place), nats(3 + 0.1 * place)]


def along(run: str) -> list[list[Any]]:
    """A run's rows of reading.csv: more steps on what is no letter, most on the line end."""
    factor = RUNS[run].factor
    assert factor is not None
    rows = []
    for position, byte in enumerate(PASSAGE, start=1):
        taken = round(factor * (1 if chr(byte).isalnum() else 3 if byte == ord("\n") else 2))
        loss = nats(1 + position % 5)
        rows.append([TASK, run, 1, position, byte, taken, taken + 0.25, loss, nats(2.5)])
    return rows


def with_characters(tables: dict[str, Table]) -> dict[str, Table]:
    """The files of Graves' tasks with the rows of characters, and the two of them alone."""
    kinds: list[list[Any]] = []
    passages = [row for run, made in RUNS.items() if made.factor for row in along(run)]
    for run, made in RUNS.items():
        for at in range(3):
            place, halting = [TASK, run, at + 1], "act" if made.factor else "none"
            mean = steps(made, "letter", at)
            cost = None if mean is None else mean + 0.5
            row = [TASK, run, halting, made.ponder_weight, at + 1, f"c{len(kinds):02d}", 2345]
            row += [EPOCHS, BEST, False, made.wrong[at], nats(made.bits[at]), mean]
            tables["results.csv"][1].append([*row, None if mean is None else 0.4, cost])
            for epoch in range(1, EPOCHS + 1):
                more = 0.5 * (BEST - epoch)
                loss, wrong = nats(made.bits[at] + more), round(made.wrong[at] + more / 10, 4)
                tables["history.csv"][1].append([*place, epoch, loss, loss, wrong, mean])
            tables["timings.csv"][1].append([*place, EPOCHS, 30.0])
            kinds += [[*place, *figures(made, at, number)] for number in range(len(KINDS))]
    alone = {
        "reading.csv": (columns(ByteRead), passages),
        "bytes.csv": (columns(BytesOfKind), kinds),
    }
    return tables | alone
