"""The same trained models with their number of steps fixed, beside their own halting.

Two readings of the paper's ablation: `state` classifies from the raw state after k steps (the
paper's, as far as can be told); `capped` lets the model halt by itself but no later than k.
"""

from dataclasses import dataclass

import pandas as pd

from reports.blocks import DASH, Cell, Table, csv_text
from reports.published import PAPER_BY_STEPS, PAPER_MEAN_STEPS
from reports.spread import PLUS_MINUS, Interval, Spread, cells, paired
from reports.stored.artefacts import Artefacts


@dataclass(frozen=True)
class Reading:
    """A reading's name in tables and figures, and what it does in a sentence."""

    label: str
    stopping: str


FIXED = {
    "state": Reading("state after k steps", "classifying the state after {k} steps"),
    "capped": Reading("halting capped at k steps", "capping halting at {k} steps"),
}


@dataclass(frozen=True)
class Point:
    """One row of the ablation over all seeds.

    steps: k, or None where the model halts by itself.
    gain: adaptive minus this, seed by seed; None for the adaptive row.
    """

    reading: str
    steps: int | None
    accuracy: Spread
    mean_steps: Spread
    gain: Spread | None


def points(table: pd.DataFrame) -> list[Point]:
    """All points of one split: fixed ones by reading and k, then the adaptive one."""
    adaptive = table[table["reading"] == "adaptive"]
    found = []
    for reading in FIXED:
        fixed = table[table["reading"] == reading]
        for steps, rows in fixed.groupby("steps", sort=True):
            found.append(_point(reading, int(str(steps).split(".")[0]), rows, adaptive))
    return [*found, _point("adaptive", None, adaptive, None)]


def _point(
    reading: str, steps: int | None, rows: pd.DataFrame, adaptive: pd.DataFrame | None
) -> Point:
    accuracy, mean_steps = Spread.of(rows["accuracy"]), Spread.of(rows["mean_steps"])
    gain = None if adaptive is None else paired(adaptive, rows)
    return Point(reading, steps, accuracy, mean_steps, gain)


@dataclass(frozen=True)
class Best:
    """A fixed number of steps, and what adaptive halting gains over it on test."""

    steps: int
    gain: Interval
    seeds: int
    pairs: int


def best_fixed(artefacts: Artefacts, reading: str) -> Best | None:
    """Of the k measured on test, that which is best on dev (the smallest of equals).

    None if no k was measured on both splits.
    """
    on_dev = {
        p.steps: p.accuracy.mean for p in points(artefacts.ablation_dev) if p.reading == reading
    }
    gains = artefacts.adaptive_gains
    rows = gains[(gains["reading"] == reading) & gains["steps"].isin(on_dev)]
    found = [
        Best(int(row["steps"]), Interval.stored(row), int(row["seeds"]), int(row["pairs"]))
        for _, row in rows.iterrows()
    ]
    return max(found, key=lambda best: (on_dev[best.steps], -best.steps), default=None)


def ablation_table(artefacts: Artefacts, published: bool) -> Table:
    """Test accuracy by fixed steps in both readings, and adaptively; the paper's beside it."""
    on_test = points(artefacts.ablation_test)
    by_place = {(p.reading, p.steps): p for p in on_test}
    header = ["steps"]
    for kind in FIXED.values():
        header += [f"{kind.label}: test accuracy, %", "adaptive minus this, points"]
    rows: list[tuple[list[str], int | None]] = []
    for steps in sorted({p.steps for p in on_test if p.steps is not None}):
        cells = [str(steps)]
        for reading in FIXED:
            point = by_place.get((reading, steps))
            gain = None if point is None else point.gain
            cells += [DASH if point is None else point.accuracy.percent()]
            cells += [DASH if gain is None else gain.points()]
        rows.append((cells, steps))
    adaptive = by_place["adaptive", None]
    own = f"adaptive (mean {adaptive.mean_steps.plain()})"
    rows.append(([own, adaptive.accuracy.percent(), DASH, adaptive.accuracy.percent(), DASH], None))
    if published:
        header.append("paper, SNLI test, %")
        rows = [([*cells, _paper(steps)], steps) for cells, steps in rows]
    return Table(header, [cells for cells, _ in rows])


def _paper(steps: int | None) -> str:
    if steps is None:
        return f"{PAPER_BY_STEPS[None]:.1f} (mean {PAPER_MEAN_STEPS})"
    return f"{PAPER_BY_STEPS[steps]:.1f}" if steps in PAPER_BY_STEPS else DASH


def ablation_note(artefacts: Artefacts) -> str:
    """What the two readings are, and what the spread is over."""
    adaptive = points(artefacts.ablation_test)[-1]
    what = (
        f"mean {PLUS_MINUS} {adaptive.accuracy.over()}; differences are taken seed by seed"
        if adaptive.accuracy.sd is not None
        else adaptive.accuracy.over()
    )
    return (
        "*State after k steps* runs every pair for exactly k steps and classifies from the last "
        "state alone. *Halting capped at k steps* lets each pair halt by itself, at the latest "
        "after k steps, and classifies from the weighted average as in training. The paper's "
        "text admits both: it limits the number of steps, as the second does, but credits the "
        "adaptive model's advantage to averaging, which only the first takes away. "
        f"Figures: {what}."
    )


def ablation_csv(artefacts: Artefacts) -> str:
    """Every point of both splits; accuracies in [0, 1]."""
    header = ["split", "reading", "steps", "seeds", "accuracy_mean", "accuracy_sd", "mean_steps"]
    header += ["adaptive_minus_this_mean", "adaptive_minus_this_sd"]
    rows: list[list[Cell]] = []
    for split, table in (("dev", artefacts.ablation_dev), ("test", artefacts.ablation_test)):
        for p in points(table) if not table.empty else ():
            place: list[Cell] = [split, p.reading, p.steps, p.accuracy.n]
            rows.append([*place, *cells(p.accuracy), p.mean_steps.mean, *cells(p.gain)])
    return csv_text(header, rows)
