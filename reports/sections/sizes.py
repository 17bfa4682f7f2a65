"""Accuracy by number of training pairs, and the power law fitted to it."""

import altair as alt
import pandas as pd

from reports.blocks import Chart, Section, Table
from reports.charts import marks
from reports.charts.theme import MUTED
from reports.format import DASH, SNLI_TRAIN, Row, count, model_name, percent, text, title, with_sd
from reports.load import Artifacts
from reports.published.results import ON_SNLI, accuracy


def published_for(data: Artifacts, model: str, published: bool) -> list[tuple[str, float]]:
    """Return systems and accuracies in per cent that were published of a model on all of SNLI."""
    if not published or data.documents["corpus/summary"]["source"] != "snli":
        return []
    return [(system, accuracy(system)) for system in ON_SNLI.get(model, ())]


def laws(data: Artifacts, published: bool) -> pd.DataFrame:
    """Return the fits, each with the measured or published accuracy at its number of pairs."""
    table = data["sizes/laws"].copy()
    table["usable"] = ~(table["bounded"].astype(bool) | table["wide"].astype(bool))
    table["known"] = [_known(data, row, published) for _, row in table.iterrows()]
    return table


def _known(data: Artifacts, law: Row, published: bool) -> str:
    points = data.of("sizes/points", model=law["model"], pairs=law["pairs"])
    known = [
        with_sd(row["test_accuracy_mean"], row["test_accuracy_sd"], 1, 100)
        for _, row in points.iterrows()
    ]
    if not law["without_largest"] and law["pairs"] == SNLI_TRAIN:
        known += [f"{value:.1f}" for _, value in published_for(data, law["model"], published)]
    return " / ".join(known) or DASH


def sizes_section(data: Artifacts, published: bool) -> Section | None:
    """Return table, fits and chart; None where the study was not run."""
    points = data["sizes/points"]
    if points.empty:
        return None
    columns = {
        "model": model_name,
        "training pairs": count("pairs"),
        "seeds": count("seeds"),
        "epochs": lambda row: f"{row['epochs']:.0f}",
        "dev accuracy, %": percent("dev_accuracy"),
        "test accuracy, %": percent("test_accuracy"),
        "runs cut off": lambda row: f"{round(row['cut_off'] * row['seeds'])} of {row['seeds']}",
        "fitted": lambda row: "yes" if row["fitted"] else "no",
    }
    fits = {
        "model": model_name,
        "fitted to": lambda row: (
            "all but the largest" if row["without_largest"] else f"{row['sizes']} sizes"
        ),
        "error at n pairs": lambda row: (
            f"{row['floor']:.3f} + {row['scale']:.3g} · n^−{row['exponent']:.2f}"
        ),
        "extrapolated to": count("pairs"),
        "test accuracy, % (95 % interval)": lambda row: (
            f"{100 * row['accuracy']:.1f} ({100 * row['low']:.1f} to {100 * row['high']:.1f})"
        ),
        "usable": lambda row: "yes" if row["usable"] else "no",
        "measured or published, %": text("known"),
    }
    fitted = laws(data, published)
    parts: list[Table | Chart] = [_chart(data, fitted, published), Table("sizes", points, columns)]
    if not fitted.empty:
        said = "A fit is not usable if its exponent is at a bound or its interval is too wide."
        parts.append(Table("power_laws", fitted, fits, said, left=3))
    return Section(
        "Accuracy by number of training pairs",
        parts,
        "The chosen configurations, trained on nested parts of the training pairs with at most as "
        "many updates. The power law (Hestness et al. 2017) is fitted to test error, its intervals "
        "are by bootstrap over seeds and test pairs and leave out whether the law holds that far.",
    )


def _chart(data: Artifacts, fitted: pd.DataFrame, published: bool) -> Chart:
    """Draw measured points, the usable fits of all sizes with their bands, and published points."""
    axis, scale = alt.Axis(grid=False, format="~s"), alt.Scale(type="log", nice=False, padding=10)
    x = alt.X("x:Q", title="training pairs", axis=axis, scale=scale)
    y, band = marks.y_axis("test accuracy (%)"), alt.Y("low:Q")
    points = marks.with_band(data["sizes/points"], "test_accuracy", 100)
    points = points.assign(series=points["model"].map(title), x=points["pairs"])
    color = marks.series(points["series"])
    usable = fitted[fitted["usable"] & ~fitted["without_largest"].astype(bool)]["model"]
    curves = data["sizes/curves"]
    curves = curves[curves["model"].isin(usable)]
    curves = curves.assign(series=curves["model"].map(title), x=curves["pairs"])
    curves = curves.assign(y=100 * curves["accuracy"], low=100 * curves["low"])
    curves["high"] *= 100
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
    if known := [one for model in models for one in published_for(data, model, published)]:
        frame = pd.DataFrame(known, columns=["published", "y"]).assign(x=SNLI_TRAIN)
        cross = marks.data(frame).mark_point(shape="cross", color=MUTED)
        layers.append(cross.encode(x=x, y=y, tooltip=["published:N", "y:Q"]))
    caption = "Mean ± sd of test accuracy; bands are 95 % intervals of the fit, crosses published."
    heading = "Test accuracy by number of training pairs"
    return marks.chart("sizes", heading, layers, caption=caption, height=300)
