"""The ways of halting side by side: dev accuracy against steps, and what became of targets."""

from dataclasses import dataclass

import pandas as pd

from reports.blocks import DASH, Table
from reports.findings import listed, over_seeds, unpaired
from reports.spread import KINDS, MINUS, Spread, setting
from reports.stored.artefacts import Artefacts

TARGET = "target_steps"  # a kind of halting, and its setting
SPREADS = [f"{figure}_{of}" for figure in ("dev_accuracy", "mean_steps") for of in ("mean", "sd")]
FIXED = "fixed_steps"  # takes as many steps as it is told, and cannot collapse


@dataclass(frozen=True)
class Point:
    """One setting of one way of halting, over its seeds.

    settings: name -> value; those of the point that are not the chosen configuration's.
    accuracy: on dev, in [0, 1]; steps: per dev pair, both at the best epoch of each run.
    collapsed: share of runs with fewer steps than `halting.collapsed_below` of params.yaml.
    ponder_weight: at that epoch; None where steps cost nothing.
    """

    kind: str
    text: str
    settings: dict[str, str]
    accuracy: Spread
    steps: Spread
    collapsed: float
    ponder_weight: float | None

    @property
    def label(self) -> str:
        """The settings as a reader writes them: `ponder_weight 0.00001`."""
        return ", ".join(f"{name} {setting(value)}" for name, value in self.settings.items())

    @property
    def runs_collapsed(self) -> str:
        """`1 of 3`."""
        return f"{round(self.collapsed * self.steps.n)} of {self.steps.n}"

    @property
    def off_target(self) -> float | None:
        """How far the mean steps are from the wanted ones, as a share; None without any."""
        if self.kind != TARGET or TARGET not in self.settings:
            return None
        return self.steps.mean / float(self.settings[TARGET]) - 1


def halting_points(artefacts: Artefacts) -> list[Point]:
    """All points in stored order."""
    return [_point(row) for _, row in artefacts.halting.iterrows()]


def _point(row: "pd.Series[float]") -> Point:
    text, weight = str(row["point"]), row["ponder_weight_end_mean"]
    parts = [part.rsplit(" ", 1) for part in text.split(", ")]
    seeds = int(row["seeds"])
    return Point(
        kind=str(row["kind"]),
        text=text,
        settings={part[0]: part[-1] for part in parts},
        accuracy=Spread.stored(row["dev_accuracy_mean"], row["dev_accuracy_sd"], seeds),
        steps=Spread.stored(row["mean_steps_mean"], row["mean_steps_sd"], seeds),
        collapsed=float(row["collapsed"]),
        ponder_weight=None if pd.isna(weight) else float(weight),
    )


def halting_table(artefacts: Artefacts) -> Table:
    """One row per point."""
    points = halting_points(artefacts)
    targets = any(p.off_target is not None for p in points)
    header = ["halting", "setting", "seeds", "dev accuracy, %", "mean steps"]
    header += ["off its target, %"] if targets else []
    header += ["runs collapsed", "ponder weight at the end"]
    rows = []
    for p in points:
        row = [KINDS[p.kind], p.label, str(p.accuracy.n), p.accuracy.percent(), p.steps.plain()]
        if targets:
            row.append(DASH if p.off_target is None else _percent(p.off_target))
        fallen = DASH if p.kind == FIXED else p.runs_collapsed
        rows.append([*row, fallen, _weight(p.ponder_weight)])
    return Table(header, rows, left=2)


def halting_depth_table(artefacts: Artefacts) -> Table:
    """Dev accuracy of each point by recorded depth."""
    found = artefacts.halting_depth
    pairs = found.groupby("depth")["pairs"].first()
    header = ["halting", "setting", *(f"depth {at} ({n:,} pairs), %" for at, n in pairs.items())]
    rows = []
    for p in halting_points(artefacts):
        of = found[(found["kind"] == p.kind) & (found["point"] == p.text)]
        each = of.groupby("depth", sort=True)["accuracy"]
        rows.append([KINDS[p.kind], p.label, *(Spread.of(share).percent() for _, share in each)])
    return Table(header, rows, left=2)


def _weight(value: float | None) -> str:
    """Two digits; a target's ponder weight may be below zero."""
    if value is None:
        return DASH
    return f"{MINUS if value < 0 else ''}{setting(f'{abs(value):.2g}')}"


def _percent(share: float) -> str:
    rounded = f"{100 * abs(share):.1f}"
    sign = "" if float(rounded) == 0 else "+" if share > 0 else MINUS
    return f"{sign}{rounded}"


def halting_note(artefacts: Artefacts) -> str:
    """How to read table and figure."""
    over = over_seeds(p.accuracy.n for p in halting_points(artefacts))
    return (
        "The same network, from its chosen configuration, with each way of halting in turn; dev "
        f"accuracy and steps per dev pair are those of each run's best epoch ({over}). The test "
        "split is not read here, and the best of many points on dev is optimistic. A run has "
        "collapsed if its mean steps are fewer than `halting.collapsed_below` in `params.yaml`."
    )


def halting_sentences(artefacts: Artefacts) -> str:
    """How steps follow the settings, which runs collapsed, and how near targets were."""
    points = halting_points(artefacts)
    kinds = dict.fromkeys(p.kind for p in points if p.kind not in (FIXED, TARGET))
    ranges = [_range(kind, [p for p in points if p.kind == kind]) for kind in kinds]
    said = [sentence for sentence in ranges if sentence]
    collapsed = [p for p in points if p.collapsed > 0 and p.kind != FIXED]
    if collapsed:
        each = [f"{KINDS[p.kind]} with {p.label} ({p.runs_collapsed})" for p in collapsed]
        said.append(f"Runs that collapsed: {listed(each)}.")
    elif kinds:
        said.append("No run collapsed.")
    return " ".join([*said, *_targets(points)])


def _range(kind: str, points: list[Point]) -> str:
    """The fewest and the most steps of a kind; empty with one point."""
    if len(points) < 2:
        return ""
    ordered = sorted(points, key=lambda p: p.steps.mean)
    few, many = ordered[0], ordered[-1]
    return (
        f"With {KINDS[kind]} the mean steps range from {few.steps.plain()} ({few.label}) "
        f"to {many.steps.plain()} ({many.label})."
    )


def _targets(points: list[Point]) -> list[str]:
    """Each wanted number of steps: was it met, and what did it cost against ACT at its best?"""
    weighed = [p for p in points if p.kind == "act"]
    best = max(weighed, key=lambda p: p.accuracy.mean, default=None)
    sentences = []
    for p in points:
        if p.off_target is None:
            continue
        side = "above" if p.off_target > 0 else "below"
        far = f"{100 * abs(p.off_target):.1f} % {side} the target"
        said = f"With {p.label} the mean steps are {p.steps.plain()}, {far}"
        if best is None:
            sentences.append(f"{said}.")
            continue
        direction, how = unpaired(p.accuracy, best.accuracy)
        of = f", its best of {len(weighed)} on dev" if len(weighed) > 1 else ""
        sentences.append(
            f"{said}; dev accuracy is {direction} that of {KINDS['act']} with {best.label}{of} "
            f"({how})."
        )
    return sentences


def halting_csv(artefacts: Artefacts) -> str:
    """The stored rows, each with how far it is off its target; accuracies and shares in [0, 1]."""
    table = artefacts.halting.round(dict.fromkeys(SPREADS, 12))
    table["off_target"] = [point.off_target for point in halting_points(artefacts)]
    return table.to_csv(index=False)
