"""Halting mechanisms on one network: dev accuracy against steps, collapse, and targets met."""

from typing import Any

import pandas as pd

from reports.blocks import Section, Table
from reports.charts import marks
from reports.format import (
    DASH,
    MECHANISMS,
    MINUS,
    Row,
    count,
    known,
    number,
    percent,
    setting,
    text,
)
from reports.load import Artifacts
from reports.statistics import mean_sd, wide

FIXED, TARGET = "fixed_steps", "target_steps"


def label(point: str) -> str:
    """Print the settings of a point: `ponder_weight 5e-05` is `ponder_weight 0.00005`."""
    parts = [part.rpartition(" ") for part in point.split(", ")]
    return ", ".join(f"{name} {_value(value)}".strip() for name, _, value in parts)


def _value(value: str) -> str:
    return setting(float(value)) if "e-" in value else value


def points(data: Artifacts) -> pd.DataFrame:
    """Return the stored points, with `off_target`: steps relative to the wanted ones, minus 1."""
    table = data["halting/points"].copy()
    targets = table["point"].str.extract(rf"{TARGET} ([\d.]+)", expand=False).astype(float)
    of = table["kind"] == TARGET
    table["off_target"] = (table["mean_steps_mean"] / targets - 1).where(of)
    table["setting"] = table["point"].map(label)
    return table.assign(mechanism=table["kind"].map(MECHANISMS))


def halting_section(data: Artifacts) -> Section | None:
    """Return table, accuracy by depth and chart; None where the study was not run."""
    frame = points(data)
    if frame.empty:
        return None
    columns = {
        "mechanism": text("mechanism"),
        "setting": text("setting"),
        "seeds": count("seeds"),
        "dev accuracy, %": percent("dev_accuracy"),
        "mean steps": number("mean_steps"),
        "off its target, %": number("off_target", 1, scale=100, sign=True),
        "runs collapsed": _collapsed,
        "ponder weight at the end": known("ponder_weight_end_mean", _weight),
    }
    parts: list[Any] = [_chart(frame), Table("halting", frame, columns, left=2)]
    depth = data["halting/depth"]
    if not depth.empty:
        parts.append(_depth_table(frame, depth))
    return Section(
        "Halting mechanisms",
        parts,
        "One network from its chosen configuration with each mechanism in turn; dev accuracy and "
        "steps at each run's best epoch, test is not read. A run has collapsed if its mean steps "
        "are below halting.collapsed_below of params.yaml.",
    )


def _chart(frame: pd.DataFrame) -> Any:
    placed = marks.with_bands(frame, "mean_steps", "dev_accuracy", series=frame["mechanism"])
    across, up = "mean steps per dev pair", "dev accuracy (%)"
    drawn = marks.scatter(placed.sort_values("x"), across, up, tips=["setting:N"])
    heading = "Dev accuracy against mean steps"
    return marks.chart("halting", heading, drawn, caption="Mean ± sd.", height=300)


def _depth_table(frame: pd.DataFrame, depth: pd.DataFrame) -> Table:
    """Return dev accuracy of each point by recorded depth."""
    renamed = depth.rename(columns={"depth": "at", "accuracy": "depth"})
    means = wide(mean_sd(renamed, ["kind", "point", "at"], ["depth"]), ["kind", "point"], "at")
    rows = frame[["kind", "point", "mechanism", "setting"]].merge(means, on=["kind", "point"])
    columns = {"mechanism": text("mechanism"), "setting": text("setting")}
    columns |= {f"depth {at}, %": percent(f"depth_{at}") for at in sorted(depth["depth"].unique())}
    return Table("halting_by_depth", rows, columns, "Dev accuracy by recorded depth.", left=2)


def _collapsed(row: Row) -> str:
    if row["kind"] == FIXED:
        return DASH
    return f"{round(row['collapsed'] * row['seeds'])} of {row['seeds']}"


def _weight(weight: float) -> str:
    """Print two digits; a target's ponder weight may be below zero."""
    return f"{MINUS if weight < 0 else ''}{setting(float(f'{abs(weight):.2g}'))}"
