"""The forms of chart: lines, intervals, scatter and strips, each from a tidy frame."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from reports.blocks import Chart
from reports.charts.theme import BLUE, INK, MUTED

HEIGHT, ROW = 260, 34  # px; ROW is of one line of a chart with a name for each
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross"]  # one fewer than colors: 30 pairs
DIGITS = 5  # of a stored number: more cannot be seen


def chart(
    name: str,
    title: str,
    layers: Sequence[alt.Chart],
    *,
    caption: str = "",
    height: float = HEIGHT,
    half: bool = False,
) -> Chart:
    """Return layers as a chart that is as wide as its place."""
    spec = alt.layer(*layers).properties(width="container", height=height).to_dict(validate=False)
    del spec["$schema"], spec["config"]  # an address, and Altair's own theme
    return Chart(name, title, spec, caption, half)


def data(frame: pd.DataFrame) -> alt.Chart:
    """Return an empty chart of a frame, whose numbers are shortened to what can be seen."""
    short = {
        name: frame[name].map(lambda x: float(f"{x:.{DIGITS}g}"))
        for name in frame.select_dtypes("float")
    }
    return alt.Chart(frame.assign(**short).reset_index(drop=True))


def with_band(frame: pd.DataFrame, column: str, scale: float = 1, **more: Any) -> pd.DataFrame:
    """Add `y`, `low` and `high`: `column_mean` and one sd around it, both times a scale.

    With a scale of 100 these are shares in per cent, and a band ends at 0 and 100.
    """
    mean, sd = scale * frame[f"{column}_mean"], scale * frame[f"{column}_sd"]
    ends = pd.DataFrame({"low": mean - sd, "high": mean + sd})
    return frame.assign(y=mean, **(ends.clip(0, 100) if scale == 100 else ends), **more)


def with_bands(frame: pd.DataFrame, across: str, up: str, **more: Any) -> pd.DataFrame:
    """Add what `scatter` needs: `x` with its ends, and `y`, a share in per cent, with its own."""
    x = with_band(frame, across)
    x = x.rename(columns={"y": "x", "low": "x_low", "high": "x_high"})
    return with_band(x, up, 100, **more)


def y_axis(title: str) -> alt.Y:
    """Return an axis of `y` that need not begin at zero."""
    return alt.Y("y:Q", title=title, scale=alt.Scale(zero=False))


def x_axis(title: str, whole: bool = True) -> alt.X:
    """Return an axis of `x`, of whole numbers or of any."""
    axis = alt.Axis(grid=False, format="d", tickMinStep=1) if whole else alt.Axis(grid=False)
    return alt.X("x:Q", title=title, axis=axis, scale=alt.Scale(zero=False, nice=False))


def series(domain: Sequence[str], channel: Any = alt.Color) -> Any:
    """Return color or shape by the column `series`, in the order of the names."""
    names = list(dict.fromkeys(domain))
    scale = alt.Scale(domain=names)
    if channel is alt.Shape:
        scale = alt.Scale(domain=names, range=[SHAPES[i % len(SHAPES)] for i in range(len(names))])
    legend = alt.Legend(title=None) if len(names) > 1 else None
    return channel("series:N", scale=scale, sort=None, legend=legend)


def lines(frame: pd.DataFrame, across: str, up: str, *, dash: str | None = None) -> list[alt.Chart]:
    """Return a line with points for each `series`, and a band of one sd for several seeds.

    The frame has `x` and `y`, and `low` and `high` for bands. across, up: titles of the axes, with
    units. dash: a column that solid and dashed lines of one series differ in.
    """
    base = data(frame).encode(x=x_axis(across), color=series(frame["series"]))
    line = base.mark_line().encode(y=y_axis(up), detail=dash or alt.Undefined)
    if dash:
        line = line.encode(strokeDash=alt.StrokeDash(f"{dash}:N", legend=alt.Legend(title=None)))
    layers = [line, _points(base.mark_point(), frame, across, up)]
    if "low" in frame and frame["low"].notna().any():
        band = base.mark_area(opacity=0.16).encode(y=alt.Y("low:Q", title=up), y2="high:Q")
        layers.insert(0, band.transform_filter("isValid(datum.low)"))
    return layers


def _points(
    base: alt.Chart, frame: pd.DataFrame, across: str, up: str, tips: Sequence[str] = ()
) -> alt.Chart:
    titles = [alt.Tooltip("x:Q", title=across), alt.Tooltip("y:Q", title=up)]
    shape = series(frame["series"], alt.Shape)
    return base.encode(y=y_axis(up), shape=shape, tooltip=["series:N", *titles, *tips])


def intervals(
    frame: pd.DataFrame, across: str, *, zero: bool = False, tips: Sequence[str] = ()
) -> list[alt.Chart]:
    """Return a point with its interval for each row, its `name` above it and its color by `series`.

    The frame has `name`, `x`, `low`, `high` and `series`. zero: draw a line at no difference.
    """
    y = alt.Y("name:N", sort=None, axis=None)
    base = data(frame).encode(y=y, color=series(frame["series"]))
    bar = base.mark_rule(strokeWidth=2, yOffset=6).encode(x="low:Q", x2="high:Q")
    point = base.mark_point(size=70, yOffset=6).encode(
        x=alt.X("x:Q", title=across, scale=alt.Scale(zero=False)),
        shape=series(frame["series"], alt.Shape),
        tooltip=["name:N", alt.Tooltip("x:Q", title=across), "low:Q", "high:Q", *tips],
    )
    name = data(frame).mark_text(align="left", yOffset=-9, limit=320, color=INK)
    layers = [bar, point, name.encode(y=y, x=alt.value(0), text="name:N")]
    line = alt.Chart(pd.DataFrame({"x": [0]})).mark_rule(color=MUTED).encode(x="x:Q")
    return [line, *layers] if zero else layers


def scatter(
    frame: pd.DataFrame, across: str, up: str, *, tips: Sequence[str] = ()
) -> list[alt.Chart]:
    """Return a point for each row of `with_bands` with its sds, and a line along each `series`."""
    x = x_axis(across, whole=False)
    base = data(frame).encode(color=series(frame["series"]))
    line = base.mark_line(strokeDash=[1, 3], strokeWidth=1).encode(x=x, y=y_axis(up))
    upward = base.mark_rule().encode(x=x, y=alt.Y("low:Q", title=up), y2="high:Q")
    sideways = base.mark_rule().encode(x="x_low:Q", x2="x_high:Q", y=y_axis(up))
    point = _points(base.mark_point(size=70).encode(x=x), frame, across, up, tips)
    return [line, upward, sideways, point]


def level(name: str, y: float) -> Any:
    """Return a dashed line across the whole width, with its name as a tooltip."""
    frame = pd.DataFrame({"reference": [name], "y": [y]})
    rule = data(frame).mark_rule(color=MUTED, strokeDash=[5, 3])
    return rule.encode(y=alt.Y("y:Q"), tooltip=["reference:N", "y:Q"])


def histogram(frame: pd.DataFrame, across: str, up: str) -> list[alt.Chart]:
    """Return a bar for each whole number `x`, with one sd around `y`."""
    base = data(frame).encode(x=alt.X("x:O", title=across, axis=alt.Axis(labelAngle=0)))
    tooltip = [alt.Tooltip("x:O", title=across), alt.Tooltip("y:Q", title=up), "low:Q", "high:Q"]
    bar = base.mark_bar(color=BLUE, opacity=0.8).encode(y=alt.Y("y:Q", title=up), tooltip=tooltip)
    return [bar, base.mark_rule(color=INK).encode(y=alt.Y("low:Q", title=up), y2="high:Q")]
