"""Accuracy by number of training pairs."""

import altair as alt
import pandas as pd

from reports import format as fmt
from reports.blocks import Chart, Section, StudyReport, Table
from reports.charts import marks
from reports.load import Artifacts
from studies.sizes.tables import COLUMNS


def section(data: Artifacts, _claims: pd.DataFrame) -> Section:
    """Return a chart and a table."""
    points = data["sizes/points"]
    columns = {
        "model": fmt.model_name,
        "training pairs": fmt.count("pairs"),
        "seeds": fmt.count("seeds"),
        "epochs": fmt.number("epochs", 0),
        "dev accuracy, %": fmt.percent("dev_accuracy"),
        "test accuracy, %": fmt.percent("test_accuracy"),
        "runs at the epoch limit": fmt.runs("cut_off"),
    }
    return Section(
        "Accuracy by number of training pairs",
        [_chart(points), Table("sizes", points, columns)],
        "The best configurations, trained on nested subsets with at most as many updates as on all "
        "pairs.",
    )


def _chart(points: pd.DataFrame) -> Chart:
    axis, scale = alt.Axis(grid=False, format="~s"), alt.Scale(type="log", nice=False, padding=10)
    x = alt.X("x:Q", title="training pairs", axis=axis, scale=scale)
    y, band = marks.y_axis("test accuracy (%)"), alt.Y("low:Q")
    points = marks.with_band(points, "test_accuracy", 100)
    points = points.assign(series=points["model"].map(fmt.title), x=points["pairs"])
    base = marks.data(points).encode(x=x, color=marks.series(points["series"]))
    shape = marks.series(points["series"], alt.Shape)
    layers = [
        base.mark_line().encode(y=y),
        base.mark_rule().encode(y=band, y2="high:Q"),
        base.mark_point().encode(y=y, shape=shape, tooltip=["series:N", "x:Q", "y:Q"]),
    ]
    title = "Test accuracy by number of training pairs"
    return marks.chart("sizes", title, layers, caption="Mean ± sd.", height=300)


STUDY = StudyReport(COLUMNS, section, run=("model", "pairs"))
