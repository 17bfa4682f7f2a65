"""Chart types: lines, intervals, scatter plots, histograms, parallel coordinates; their theme.

The theme is that of the page (CSS variables as colors) and of PNG files (on white).
"""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import altair as alt
import pandas as pd
import vl_convert
from PIL import Image
from tqdm import tqdm

from actmodels.files import replacing
from reports import format as fmt
from reports.blocks import Chart
from reports.statistics import mean_sd

# Axis and text colors as CSS variables, and their values in PNG files.
INK, MUTED, GRID = "var(--ink)", "var(--muted)", "var(--grid)"
PNG_COLORS = {INK: "#222222", MUTED: "#595959", GRID: "#e3e3e3"}
# Colorblind-safe palette of Okabe and Ito. The last two colors are darker, so that all have a
# contrast of 3 : 1 with the light and the dark page.
COLORS = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#b88200", "#3e95cb"]
ORANGE, BLUE = COLORS[:2]
VEGA_LITE = "6.4"  # the version that Altair writes
PNG_WIDTH = 560  # px
PIXELS_PER_INCH = 144  # for high-density screens
FONT_SIZE = 12  # px: legible on a phone
WIDE = 560  # px: minimum chart width for a legend of two columns
CONFIG: dict[str, Any] = {
    "autosize": {"type": "fit-x", "contains": "padding"},
    "padding": 4,
    "view": {"stroke": None},
    "axis": {
        **{"labelColor": INK, "titleColor": INK, "gridColor": GRID, "labelFontSize": FONT_SIZE},
        **{"titleFontSize": FONT_SIZE, "titleFontWeight": "normal", "titlePadding": 8},
        **{"domain": False, "ticks": False, "labelPadding": 5, "labelSeparation": 6},
    },
    "legend": {
        **{"orient": "bottom", "labelColor": INK, "labelFontSize": FONT_SIZE, "labelLimit": 260},
        **{"title": None, "offset": 12, "symbolStrokeWidth": 2, "symbolOpacity": 1},
        "columns": {"expr": f"containerSize()[0] < {WIDE} ? 1 : 2"},
        "layout": {"bottom": {"direction": "vertical", "anchor": "start", "margin": 6}},
    },
    "header": {"labelColor": INK, "titleColor": INK, "labelFontSize": FONT_SIZE},
    "range": {"category": COLORS},
    "line": {"strokeWidth": 1.8},
    "point": {"filled": True, "size": 45},
    "rule": {"strokeWidth": 1.4},
    "text": {"color": INK, "fontSize": FONT_SIZE},
}
HEIGHT, ROW = 260, 34  # px; ROW is the height of one labeled interval
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross"]  # 5 and 6 colors: 30 pairs
DIGITS = 5  # significant digits of stored numbers
Panel: TypeAlias = tuple[str, pd.DataFrame, str, str, str]  # name, rows, x, column, y title
LABELS = 12  # the most that do not overlap on an axis


def page_spec(chart: Chart) -> dict[str, Any]:
    """Return the Vega-Lite specification for the page."""
    config = {"background": "transparent", "font": "system-ui, sans-serif", **CONFIG}
    return {**chart.spec, "config": config}


def png_spec(chart: Chart) -> dict[str, Any]:
    """Return the Vega-Lite specification for a PNG file, with a font of vl-convert."""
    config = {"background": "#ffffff", "font": "Liberation Sans", **CONFIG}
    config["legend"] = {**CONFIG["legend"], "columns": 2}
    text = json.dumps({**chart.spec, "width": PNG_WIDTH, "config": config})
    for name, color in PNG_COLORS.items():
        text = text.replace(name, color)
    spec: dict[str, Any] = json.loads(text)
    return spec


def write_pictures(charts: Sequence[Chart], folder: Path) -> None:
    """Write each chart as `folder`/NAME.png."""
    with ThreadPoolExecutor(2) as pool:
        images = zip(charts, pool.map(png, charts), strict=True)
        for chart, image in tqdm(images, "report", len(charts), unit=" figure"):
            with replacing(folder / f"{chart.name}.png") as temporary:
                temporary.write_bytes(image)


def png(chart: Chart) -> bytes:
    """Render a chart as PNG, offline and without timestamps or versions."""
    drawn: bytes = vl_convert.vegalite_to_png(
        png_spec(chart), vl_version=VEGA_LITE, ppi=PIXELS_PER_INCH, allowed_base_urls=[]
    )
    compressed = BytesIO()
    with Image.open(BytesIO(drawn)) as image:  # level 8: a fifth of the bytes, fast
        image.save(compressed, "PNG", compress_level=8, dpi=(PIXELS_PER_INCH, PIXELS_PER_INCH))
    return compressed.getvalue()


@cache
def vega() -> str:
    """Return a script with Vega and Vega-Lite that defines only `vegaEmbed`."""
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", VEGA_LITE)
    return f"(() => {{{bundle}\n}})();"


def chart(
    name: str,
    title: str,
    layers: Sequence[alt.Chart],
    *,
    caption: str = "",
    height: float = HEIGHT,
    half: bool = False,
) -> Chart:
    """Return layers as a chart as wide as its container."""
    whole = alt.layer(*layers).properties(width="container", height=height)
    with alt.data_transformers.disable_max_rows():  # our limit is in reports.sections.sweep
        spec = whole.to_dict(validate=False)
    del spec["$schema"], spec["config"]  # a URL, and Altair's own theme
    return Chart(name, title, spec, caption, half)


def data(frame: pd.DataFrame) -> alt.Chart:
    """Return an empty chart of a frame with rounded numbers."""
    rounded = {
        name: frame[name].map(lambda x: float(f"{x:.{DIGITS}g}"))
        for name in frame.select_dtypes("float")
    }
    return alt.Chart(frame.assign(**rounded).reset_index(drop=True))


def with_band(frame: pd.DataFrame, column: str, scale: float = 1, **columns: Any) -> pd.DataFrame:
    """Add further columns, and `y`, `low` and `high`: the mean of `column` ± one sd.

    With scale 100 these are percentages, and the band is clipped to [0, 100].
    """
    mean, sd = scale * frame[f"{column}_mean"], scale * frame[f"{column}_sd"]
    band = pd.DataFrame({"low": mean - sd, "high": mean + sd})
    return frame.assign(y=mean, **(band.clip(0, 100) if scale == 100 else band), **columns)


def y_axis(title: str) -> alt.Y:
    """Return a `y` axis that need not start at zero."""
    return alt.Y("y:Q", title=title, scale=alt.Scale(zero=False))


def x_axis(title: str, integers: bool = True) -> alt.X:
    """Return an `x` axis of integers or real numbers."""
    whole = alt.Axis(grid=False, format="d", labelExpr="datum.value % 1 ? '' : datum.label")
    axis = whole if integers else alt.Axis(grid=False)
    return alt.X("x:Q", title=title, axis=axis, scale=alt.Scale(zero=False, nice=False))


def series(domain: Sequence[str], channel: Any = alt.Color) -> Any:
    """Encode the column `series` as color or shape, in the order of the domain."""
    names = list(dict.fromkeys(domain))
    scale = alt.Scale(domain=names)
    if channel is alt.Shape:
        scale = alt.Scale(domain=names, range=[SHAPES[i % len(SHAPES)] for i in range(len(names))])
    legend = alt.Legend(title=None) if len(names) > 1 else None
    return channel("series:N", scale=scale, sort=None, legend=legend)


def lines(
    frame: pd.DataFrame, x_title: str, y_title: str, *, dash: str | None = None
) -> list[alt.Chart]:
    """Draw a line with points for each `series`, and a band of one sd over several seeds.

    Args:
        frame: columns x, y, series; optionally low and high.
        dash: column that solid and dashed lines of a series differ in.
    """
    base = data(frame).encode(x=x_axis(x_title), color=series(frame["series"]))
    line = base.mark_line().encode(y=y_axis(y_title), detail=dash or alt.Undefined)
    if dash:
        line = line.encode(strokeDash=alt.StrokeDash(f"{dash}:N", legend=alt.Legend(title=None)))
    layers = [line, _points(base.mark_point(), frame, x_title, y_title)]
    if "low" in frame and frame["low"].notna().any():
        band = base.mark_area(opacity=0.16).encode(y=alt.Y("low:Q", title=y_title), y2="high:Q")
        layers.insert(0, band.transform_filter("isValid(datum.low)"))
    return layers


def _points(
    base: alt.Chart, frame: pd.DataFrame, x_title: str, y_title: str, tips: Sequence[str] = ()
) -> alt.Chart:
    titles = [alt.Tooltip("x:Q", title=x_title), alt.Tooltip("y:Q", title=y_title)]
    shape = series(frame["series"], alt.Shape)
    return base.encode(y=y_axis(y_title), shape=shape, tooltip=["series:N", *titles, *tips])


def curves(name: str, title: str, panels: Sequence[Panel], **x_titles: str) -> Iterator[Chart]:
    """Draw means over seeds with a line per run, one chart per panel that has values.

    Args:
        name: chart name with `{}` for the panel's name.
        x_titles: title of x by column, by default the column's name.
    """
    for panel, rows, x, column, y_title in panels:
        valid = rows.dropna(subset=[column])
        if valid.empty:
            continue
        frame = mean_sd(valid, ["run", x], [column]).sort_values(x, kind="stable")
        order = {run: index for index, run in enumerate(dict.fromkeys(rows["run"]))}
        frame = frame.sort_values("run", key=lambda run, order=order: run.map(order), kind="stable")
        names, scale = frame["run"].map(fmt.settings), 100 if y_title.endswith("(%)") else 1
        frame = with_band(frame, column, scale, x=frame[x], series=names)
        heading = f"{title}: {y_title.partition(' (')[0]} by {x}"
        layers = lines(frame, x_titles.get(x, x), y_title)
        yield chart(name.format(panel), heading, layers, half=True)


def intervals(
    frame: pd.DataFrame, x_title: str, *, zero: bool = False, tips: Sequence[str] = ()
) -> list[alt.Chart]:
    """Draw a point with its interval and `name` for each row, colored by `series`.

    Args:
        frame: columns name, x, low, high, series.
        zero: draw a line at zero.
    """
    y = alt.Y("name:N", sort=None, axis=None)
    base = data(frame).encode(y=y, color=series(frame["series"]))
    bar = base.mark_rule(strokeWidth=2, yOffset=6).encode(x="low:Q", x2="high:Q")
    point = base.mark_point(size=70, yOffset=6).encode(
        x=alt.X("x:Q", title=x_title, scale=alt.Scale(zero=False)),
        shape=series(frame["series"], alt.Shape),
        tooltip=["name:N", alt.Tooltip("x:Q", title=x_title), "low:Q", "high:Q", *tips],
    )
    name = data(frame).mark_text(align="left", yOffset=-9, limit=320, color=INK)
    layers = [bar, point, name.encode(y=y, x=alt.value(0), text="name:N")]
    line = alt.Chart(pd.DataFrame({"x": [0]})).mark_rule(color=MUTED).encode(x="x:Q")
    return [line, *layers] if zero else layers


def scatter(
    frame: pd.DataFrame, x: tuple[str, str], y: tuple[str, str], *, tips: Sequence[str] = ()
) -> list[alt.Chart]:
    """Draw a point with both sds for each row, and a line along each `series`.

    Args:
        frame: mean and sd of x and y; y is a fraction, shown as a percentage.
        x, y: column and axis title.
    """
    (x_column, x_title), (y_column, y_title) = x, y
    frame = with_band(frame, x_column)
    frame = frame.rename(columns={"y": "x", "low": "x_low", "high": "x_high"})
    frame, axis = with_band(frame, y_column, 100), x_axis(x_title, integers=False)
    base = data(frame).encode(color=series(frame["series"]))
    line = base.mark_line(strokeDash=[1, 3], strokeWidth=1).encode(x=axis, y=y_axis(y_title))
    vertical = base.mark_rule().encode(x=axis, y=alt.Y("low:Q", title=y_title), y2="high:Q")
    horizontal = base.mark_rule().encode(x="x_low:Q", x2="x_high:Q", y=y_axis(y_title))
    point = _points(base.mark_point(size=70).encode(x=axis), frame, x_title, y_title, tips)
    return [line, vertical, horizontal, point]


def level(name: str, y: float) -> Any:
    """Draw a dashed horizontal line with its name as a tooltip."""
    frame = pd.DataFrame({"reference": [name], "y": [y]})
    rule = data(frame).mark_rule(color=MUTED, strokeDash=[5, 3])
    return rule.encode(y=alt.Y("y:Q"), tooltip=["reference:N", "y:Q"])


def histogram(frame: pd.DataFrame, x_title: str, y_title: str) -> list[alt.Chart]:
    """Draw a bar for each integer `x`, with one sd around `y`."""
    base = data(frame).encode(x=alt.X("x:O", title=x_title, axis=alt.Axis(labelAngle=0)))
    titles = [alt.Tooltip("x:O", title=x_title), alt.Tooltip("y:Q", title=y_title)]
    y = alt.Y("y:Q", title=y_title)
    bar = base.mark_bar(color=BLUE, opacity=0.8).encode(y=y, tooltip=[*titles, "low:Q", "high:Q"])
    return [bar, base.mark_rule(color=INK).encode(y=alt.Y("low:Q", title=y_title), y2="high:Q")]


def parallel(frame: pd.DataFrame, names: Sequence[str], score: str) -> list[alt.Chart]:
    """Draw a line for each row, colored by its score, and highlight the one under the pointer.

    Values of a setting have equal distances, in ascending order; the score has its own scale.

    Args:
        frame: columns `trial`, `names` and the score.
        score: name of the last axis.
    """
    low, high = frame[score].min(), frame[score].max()
    places = {score: (frame[score] - low) / ((high - low) or 1)}
    ticks = [(score, 0.0, f"{low:.1f}"), (score, 1.0, f"{high:.1f}")]
    for name in names:
        values = sorted(frame[name].dropna().unique())
        heights = {value: i / (len(values) - 1) for i, value in enumerate(values)}
        places[name] = frame[name].map(heights)
        labeled = list(heights.items())[:: 1 + len(heights) // LABELS]
        ticks += [(name, y, fmt.setting(value)) for value, y in labeled]
    lines = pd.DataFrame(places).assign(trial=frame["trial"])
    tips = [*names, score]
    lines = lines.melt("trial", tips, "axis", "y").merge(frame, on="trial")
    x = alt.X("axis:N", sort=tips, title=None, axis=alt.Axis(labelAngle=0, grid=True, orient="top"))
    y = alt.Y("y:Q", axis=None)
    pointed = alt.selection_point(fields=["trial"], on="pointerover", empty=False)
    color = alt.Color(f"{score}:Q", scale=alt.Scale(scheme="viridis"))
    line = data(lines).mark_line(opacity=0.8).encode(x=x, y=y, color=color, detail="trial:N")
    line = line.encode(
        strokeWidth=alt.condition(pointed, alt.value(4), alt.value(1.5)),
        tooltip=["trial:N", *(f"{name}:N" for name in names), alt.Tooltip(f"{score}:Q")],
    )
    labels = pd.DataFrame(ticks, columns=["axis", "y", "text"])
    text = data(labels).mark_text(align="left", dx=4, color=INK)
    return [line.add_params(pointed), text.encode(x=x, y=y, text="text:N")]
