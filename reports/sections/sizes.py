"""Accuracy by number of training pairs, and the power law fitted to it."""

import altair as alt
import pandas as pd

from reports import format as fmt
from reports.blocks import Chart, Section, Table
from reports.charts import marks
from reports.charts.theme import MUTED
from reports.load import Artifacts
from reports.published import ON_SNLI, accuracy


def published_for(data: Artifacts, model: str, published: bool) -> list[tuple[str, float]]:
    """Return published systems like `model` and their accuracy on all of SNLI, in percent."""
    if not published or data.documents["corpus/summary"]["source"] != "snli":
        return []
    return [(system, accuracy(system)) for system in ON_SNLI.get(model, ())]


def laws(data: Artifacts, published: bool) -> pd.DataFrame:
    """Return the fits, each with the measured or published accuracy at its number of pairs."""
    table = data["sizes/laws"].copy()
    table["usable"] = ~(table["bounded"].astype(bool) | table["wide"].astype(bool))
    table["known"] = [_known(data, row, published) for _, row in table.iterrows()]
    return table


def _known(data: Artifacts, law: fmt.Row, published: bool) -> str:
    points = data.select("sizes/points", model=law["model"], pairs=law["pairs"])
    values = [fmt.percent("test_accuracy")(row) for _, row in points.iterrows()]
    if not law["without_largest"] and law["pairs"] == fmt.SNLI_TRAIN:
        values += [f"{value:.1f}" for _, value in published_for(data, law["model"], published)]
    return " / ".join(values) or fmt.DASH


def sizes_section(data: Artifacts, published: bool) -> Section | None:
    """Return a table, the fits and a chart; None if the study was not run."""
    points, fits = data["sizes/points"], laws(data, published)
    if points.empty:
        return None
    columns = {
        "model": fmt.model_name,
        "training pairs": fmt.count("pairs"),
        "seeds": fmt.count("seeds"),
        "epochs": fmt.number("epochs", 0),
        "dev accuracy, %": fmt.percent("dev_accuracy"),
        "test accuracy, %": fmt.percent("test_accuracy"),
        "runs at the epoch limit": fmt.runs("cut_off"),
        "in the fit": lambda row: "yes" if row["fitted"] else "no",
    }
    fit_columns = {
        "model": fmt.model_name,
        "fitted to": lambda row: (
            "all but the largest" if row["without_largest"] else f"{row['sizes']} sizes"
        ),
        "error at n pairs": lambda row: (
            f"{row['floor']:.3f} + {row['scale']:.3g} · n^−{row['exponent']:.2f}"
        ),
        "extrapolated to": fmt.count("pairs"),
        "test accuracy, % [95 % CI]": lambda row: (
            f"{100 * row['accuracy']:.1f} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"
        ),
        "usable": lambda row: "yes" if row["usable"] else "no",
        "measured or published, %": fmt.text("known"),
    }
    parts: list[Table | Chart] = [_chart(data, fits, published), Table("sizes", points, columns)]
    if not fits.empty:
        caption = "A fit is not usable if its exponent is at a bound or its CI is too wide."
        parts.append(Table("power_laws", fits, fit_columns, caption, text_columns=3))
    return Section(
        "Accuracy by number of training pairs",
        parts,
        "The best configurations, trained on nested subsets with at most as many updates as on all "
        "pairs. A power law (Hestness et al. 2017) is fitted to test error; its CIs are by "
        "bootstrap over seeds and test pairs, and assume that the law holds.",
    )


def _chart(data: Artifacts, fits: pd.DataFrame, published: bool) -> Chart:
    """Draw measured and published points, and the usable fits of all sizes with their bands."""
    axis, scale = alt.Axis(grid=False, format="~s"), alt.Scale(type="log", nice=False, padding=10)
    x = alt.X("x:Q", title="training pairs", axis=axis, scale=scale)
    y, band = marks.y_axis("test accuracy (%)"), alt.Y("low:Q")
    points = marks.with_band(data["sizes/points"], "test_accuracy", 100)
    points = points.assign(series=points["model"].map(fmt.title), x=points["pairs"])
    color = marks.series(points["series"])
    usable = fits[fits["usable"] & ~fits["without_largest"].astype(bool)]["model"]
    curves = data["sizes/curves"]
    curves = curves[curves["model"].isin(usable)]
    curves = curves.assign(series=curves["model"].map(fmt.title), x=curves["pairs"])
    curves[["y", "low", "high"]] = 100 * curves[["accuracy", "low", "high"]]
    law = marks.data(curves).encode(x=x, color=color)
    base = marks.data(points).encode(x=x, color=color)
    shape = marks.series(points["series"], alt.Shape)
    layers = [
        law.mark_area(opacity=0.16).encode(y=band, y2="high:Q"),
        law.mark_line().encode(y=y),
        base.mark_rule().encode(y=band, y2="high:Q"),
        base.mark_point().encode(y=y, shape=shape, tooltip=["series:N", "x:Q", "y:Q"]),
    ]
    models = data["sizes/points"]["model"].unique()
    if systems := [one for model in models for one in published_for(data, model, published)]:
        frame = pd.DataFrame(systems, columns=["published", "y"]).assign(x=fmt.SNLI_TRAIN)
        cross = marks.data(frame).mark_point(shape="cross", color=MUTED)
        layers.append(cross.encode(x=x, y=y, tooltip=["published:N", "y:Q"]))
    caption = "Points: mean ± sd; bands: 95 % CI of the fit; crosses: published."
    title = "Test accuracy by number of training pairs"
    return marks.chart("sizes", title, layers, caption=caption, height=300)
