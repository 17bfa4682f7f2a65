"""Halting mechanisms on one network: dev accuracy against steps, collapsed runs, target steps."""

from typing import Any

import pandas as pd

from reports import format as fmt
from reports import marks
from reports.blocks import Section, StudyReport, Table
from reports.load import Artifacts
from reports.statistics import mean_sd, wide
from studies.halting.tables import COLUMNS

FIXED, TARGET = "fixed_steps", "target_steps"


def points(data: Artifacts) -> pd.DataFrame:
    """Return the points with `off_target`, the relative deviation of steps from their target."""
    table = data["halting/points"].copy()
    targets = table["point"].str.extract(rf"{TARGET} ([\d.]+)", expand=False).astype(float)
    deviation = table["mean_steps_mean"] / targets - 1
    table["off_target"] = deviation.where(table["kind"] == TARGET)
    table["setting"] = table["point"].map(fmt.settings)
    return table.assign(mechanism=table["kind"].map(fmt.MECHANISMS))


def section(data: Artifacts, _claims: pd.DataFrame) -> Section:
    """Return a table, accuracy by depth and a chart."""
    frame = points(data)
    names = {"mechanism": fmt.text("mechanism"), "setting": fmt.text("setting")}
    columns = names | {
        "seeds": fmt.count("seeds"),
        "dev accuracy, %": fmt.percent("dev_accuracy"),
        "mean steps": fmt.number("mean_steps"),
        "deviation from target, %": fmt.number("off_target", 1, scale=100, sign=True),
        "collapsed runs": _collapsed,
        "final ponder weight": fmt.optional("ponder_weight_end_mean", _weight),
    }
    parts: list[Any] = [_chart(frame), Table("halting", frame, columns, text_columns=2)]
    history = data["halting/history"]
    history = history.assign(
        run=history["kind"].map(fmt.MECHANISMS) + ", " + history["point"].map(fmt.settings)
    )
    panels = [("curves", history, "epoch", "dev_accuracy", "dev accuracy (%)")]
    parts += marks.curves("halting_{}", "Halting mechanisms", panels)
    depth = data["halting/depth"]
    if not depth.empty:
        parts.append(_depth_table(frame, depth, names))
    return Section(
        "Halting mechanisms",
        parts,
        "Each mechanism in the same network, with dev accuracy and steps at each run's best epoch. "
        "A run has collapsed if its mean steps are below halting.collapsed_below in params.yaml.",
    )


def _chart(frame: pd.DataFrame) -> Any:
    frame = frame.assign(series=frame["mechanism"]).sort_values("mean_steps_mean")
    x, y = ("mean_steps", "mean steps per dev pair"), ("dev_accuracy", "dev accuracy (%)")
    layers = marks.scatter(frame, x, y, tips=["setting:N"])
    title = "Dev accuracy against mean steps"
    return marks.chart("halting", title, layers, caption="Mean ± sd.", height=300)


def _depth_table(frame: pd.DataFrame, depth: pd.DataFrame, names: dict[str, fmt.Cell]) -> Table:
    """Return dev accuracy of each point by recorded depth."""
    renamed = depth.rename(columns={"depth": "value", "accuracy": "depth"})
    by = ["kind", "point"]
    means = wide(mean_sd(renamed, [*by, "value"], ["depth"]), by, "value")
    rows = frame[[*by, "mechanism", "setting"]].merge(means, on=by)
    values = sorted(depth["depth"].unique())
    columns = names | {f"depth {value}, %": fmt.percent(f"depth_{value}") for value in values}
    caption = "Dev accuracy by recorded depth."
    return Table("halting_by_depth", rows, columns, caption, text_columns=2)


def _collapsed(row: fmt.Row) -> str:
    return fmt.DASH if row["kind"] == FIXED else fmt.runs("collapsed")(row)


def _weight(weight: float) -> str:
    """Format with two significant digits; the ponder weight of a target may be negative."""
    return f"{fmt.MINUS if weight < 0 else ''}{fmt.setting(float(f'{abs(weight):.2g}'))}"


STUDY = StudyReport(COLUMNS, section, run=("kind", "point"), group_title=fmt.MECHANISMS.__getitem__)
