"""The explorer of the grid: every trial of the sweep with its settings, as chart and table."""

import math
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from reports.blocks import Figure, Island
from reports.charts.look import GRID, INK, LABEL, MUTED, SURFACE, page_spec
from reports.spread import setting, title
from reports.stored.artefacts import Artefacts
from reports.tables.sweep import sweep_models, trials_of, varied

HTML = Path(__file__).with_suffix(".html")
# From the worst to the best: blue to orange in equal lightness, which any colour vision tells
# apart and which stands out from a light page as from a dark one.
WORST, MIDDLE, BEST = "#3f83c9", "#9a7f9b", "#e0631f"
THIN, BOLD, REACH = 1.3, 4.5, 9.0  # px: a line, the focused one, and how near a pointer must be
TALL = 400  # px: of upright axes


def trials_island(artefacts: Artefacts) -> Island:
    """All trials, by model: models differ in the settings that they vary.

    Its data has `models`, each with its `axes` (name, values as a reader writes them) and its
    `trials` in grid order (`at`: the place of its value on each axis); accuracies are in percent,
    and what a trial has not, or is not finite, is null. `charts` are two specifications, for
    wide and narrow screens.
    """
    wide, narrow = (page_spec(Figure(parallel_coordinates(way), "")) for way in (True, False))
    models = [_model(artefacts, model) for model in sweep_models(artefacts)]
    data = {"models": models, "charts": {"wide": wide, "narrow": narrow}}
    return Island("trials", "All trials of the sweep", HTML.read_text(encoding="utf-8"), data)


def _model(artefacts: Artefacts, model: str) -> dict[str, Any]:
    trials = trials_of(artefacts, model)
    names = list(varied(artefacts, model))
    if trials["seed"].nunique() > 1:
        names.append("seed")
    axes = {name: _values(trials[name]) for name in names}
    chosen = set(artefacts.best[model]["keys"]) if model in artefacts.best else set()
    return {
        "name": model,
        "title": title(model),
        "axes": [{"name": name, "values": list(map(setting, axes[name]))} for name in names],
        "trials": [_trial(row, axes, chosen) for _, row in trials.iterrows()],
    }


def _trial(row: "pd.Series[Any]", axes: dict[str, list[str]], chosen: set[str]) -> dict[str, Any]:
    return {
        "key": row["key"],
        "at": [values.index(str(row[name])) for name, values in axes.items()],
        "accuracy": _finite(100 * row["dev_accuracy"], 4),
        "loss": _finite(row["dev_loss"], 4),
        "steps": _finite(row["dev_mean_steps"], 4),
        "epoch": int(row["best_epoch"]),
        "seed": int(row["seed"]),
        "diverged": bool(row["diverged"]),
        "chosen": row["key"] in chosen,
    }


def _values(column: "pd.Series[Any]") -> list[str]:
    """The different values of a setting: numbers by size, anything else in grid order."""
    found = list(dict.fromkeys(map(str, column)))
    try:
        return sorted(found, key=Decimal)
    except InvalidOperation:
        return found


def _finite(value: float, digits: int) -> float | None:
    return round(float(value), digits) if math.isfinite(value) else None


def parallel_coordinates(upright: bool) -> dict[str, Any]:
    """Axes side by side, or one below the other where a screen is narrow.

    A script fills the named data: `axes` (axis, from, to), `ticks` (axis, place, label), `lines`
    (trial, axis, at, place, colour) and `focused` (as `lines`), and sets the height and the
    parameters `least` and `most`, the accuracies in percent that the ends of the colours mean.
    Places and colours are in [0, 1], and so are from and to.
    """
    focused = _path("focused", upright, strokeWidth=BOLD, color=INK)
    # unseen lines on top, broad enough for a pointer to meet; Vega's tips are for points alone
    reach = _path("lines", upright, strokeWidth=REACH, opacity=0, color=INK)
    layers = [_rules(upright), _lines(upright), focused, *_ticks(upright), reach]
    ends = [alt.param(name="least", value=0), alt.param(name="most", value=100)]
    chart = alt.layer(*layers).properties(width="container", height=TALL)
    chart = chart.add_params(*ends)
    return {key: value for key, value in chart.to_dict().items() if key != "config"}


def _across(upright: bool) -> dict[str, Any]:
    """The channel that goes from axis to axis, whose labels are the axes' names."""
    side: dict[str, Any] = {"orient": "top"} if upright else {}
    axis = alt.Axis(
        title=None, ticks=False, labelAngle=0, labelColor=INK, labelFontSize=LABEL, **side
    )
    channel = alt.X if upright else alt.Y
    across = channel("axis:N", sort=None, axis=axis, scale=alt.Scale(padding=0.35))
    return {"x" if upright else "y": across}


def _along(upright: bool, field: str = "place:Q") -> dict[str, Any]:
    """The channel that goes along an axis, from the smallest value to the largest."""
    scale = alt.Scale(domain=[-0.04, 1.04], nice=False)
    channel = alt.Y if upright else alt.X
    return {"y" if upright else "x": channel(field, scale=scale, axis=None)}


def _rules(upright: bool) -> alt.Chart:
    ends = {**_along(upright, "from:Q"), "y2" if upright else "x2": "to"}
    chart = alt.Chart(alt.NamedData("axes")).mark_rule(color=GRID, strokeWidth=2)
    encoded: alt.Chart = chart.encode(**_across(upright), **ends)
    return encoded


def _path(data: str, upright: bool, **mark: Any) -> alt.Chart:
    chart = alt.Chart(alt.NamedData(data)).mark_line(**mark)
    channels = {**_across(upright), **_along(upright)}
    encoded: alt.Chart = chart.encode(**channels, detail="trial:N", order="at:Q")
    return encoded


def _lines(upright: bool) -> alt.Chart:
    meant = "format(least + datum.value * (most - least), '.1f')"
    legend = alt.Legend(
        title="dev accuracy, %",
        direction="horizontal",
        orient="bottom",
        values=[0, 0.5, 1],
        labelExpr=meant,
    )
    scale = alt.Scale(domain=[0, 1], range=[WORST, MIDDLE, BEST], interpolate="lab")
    colour = alt.Color("colour:Q", scale=scale, legend=legend)
    return _path("lines", upright, strokeWidth=THIN, opacity=0.75).encode(color=colour)


def _ticks(upright: bool) -> list[alt.Chart]:
    """Labels of values on the axes, each with a rim that keeps the lines off."""
    aside: dict[str, Any] = {"align": "left", "dx": 6} if upright else {"align": "center", "dy": 14}
    base = alt.Chart(alt.NamedData("ticks"))
    channels = {**_across(upright), **_along(upright), "text": "label:N"}
    rim = base.mark_text(**aside, stroke=SURFACE, strokeWidth=4, fontSize=LABEL, color=SURFACE)
    text = base.mark_text(**aside, fontSize=LABEL, color=MUTED)
    return [rim.encode(**channels), text.encode(**channels)]
