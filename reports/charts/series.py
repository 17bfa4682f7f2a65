"""What charts with several series share: colours and shapes, a legend to click, and words."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import Any

import altair as alt

from reports.blocks import Figure
from reports.charts.look import AXES, COLOURS, SHAPES
from reports.findings import counted
from reports.spread import PLUS_MINUS, Spread

Row = dict[str, Any]
SERIES = "series"  # the field with the name of a row's series
NARROW, PHONE = 36, 440  # characters of a heading where the plot has fewer pixels than that
TICKS = 12  # of whole numbers; those that do not fit are left out as it is drawn
GOLDEN = 0.6180339887  # multiples of it modulo 1 never crowd
DIGITS = 5  # of a stored number: more cannot be seen

# Clicking an entry of the legend leaves the others pale; pointing at a mark lifts its series.
CHOSEN = alt.selection_point(name="chosen", fields=[SERIES], bind="legend")
POINTED, POINTED_TRIAL = (
    alt.selection_point(
        name="pointed", fields=[field], on="pointerover", clear="pointerout", empty=False
    )
    for field in (SERIES, "key")
)


def colour(
    names: Sequence[str], title: str | None = None, colours: Sequence[str] = COLOURS
) -> alt.Color:
    """A colour for each series, and the legend that names them."""
    return alt.Color(
        f"{SERIES}:N",
        scale=alt.Scale(domain=list(names), range=repeated(colours, len(names))),
        legend=legend(names, title),
        sort=None,
    )


def shape(names: Sequence[str], title: str | None = None, levels: Sequence[str] = ()) -> alt.Shape:
    """A shape for each series, in the same legend; shifted where colours begin again.

    Those of `levels` have no points and are lines in the legend.
    """
    count = len(SHAPES)
    shapes = {name: SHAPES[(at + at // count) % count] for at, name in enumerate(names)}
    shapes |= dict.fromkeys(levels, "stroke")
    return alt.Shape(
        f"{SERIES}:N",
        scale=alt.Scale(domain=list(names), range=[shapes[name] for name in names]),
        legend=legend(names, title),
        sort=None,
    )


def legend(names: Sequence[str], title: str | None = None) -> alt.Legend:
    """As many columns as there is room for beside the axes.

    Counted by what is around the chart: its own width changes when the axes take their part, after
    the height is settled, and a row that came then would be cut off. `width` is named for a
    window that changes.
    """
    entry = 34 + round(6.6 * max(map(len, names)))  # px of a symbol and the longest name
    room = f"containerSize()[0] + 0 * width - {AXES}"
    return alt.Legend(title=title, columns=alt.ExprRef(expr=f"max(1, floor(({room}) / {entry}))"))


def repeated(values: Sequence[str], count: int) -> list[str]:
    """The first `count` of the values, begun again as often as needed."""
    return [values[at % len(values)] for at in range(count)]


def with_legend(layer: alt.Chart) -> alt.Chart:
    """The first layer with a colour, which alone makes the legend answer to clicks."""
    return layer.properties(name="legend").add_params(CHOSEN)


def faded(full: float, pale: float = 0.1) -> Any:
    """Opacity of a mark: `full` for the chosen series, else that share of it."""
    return alt.when(CHOSEN).then(alt.value(full)).otherwise(alt.value(full * pale))


def lifted(plain: float, lifted: float) -> Any:
    """A size or width: the second for the series that is pointed at."""
    return alt.when(POINTED).then(alt.value(lifted)).otherwise(alt.value(plain))


def tooltips(fields: Mapping[str, str]) -> list[alt.Tooltip]:
    """A line for each field, by its heading; fields hold text as the tables print it."""
    return [alt.Tooltip(f"{field}:N", title=heading) for field, heading in fields.items()]


def whole_axis(heading: str, numbers: Iterable[float]) -> alt.Axis:
    """An axis over whole numbers, marked at most at a dozen of them."""
    low, high = min(found := [int(number) for number in numbers]), max(found)
    step = -(-(high - low + 1) // TICKS)
    marked = [at for at in range(low, high + 1) if at % step == 0]
    return alt.Axis(title=heading, values=marked, format="d", grid=False)


def beside(at: int) -> float:
    """A place in [0, 1) for one of many marks at the same spot: neighbours stand far apart."""
    return round(at * GOLDEN % 1, 3)


def span(numbers: Iterable[float], what: str) -> str:
    """`2 to 7 steps`, of whole numbers; `1 step` where all are the same."""
    low, high = min(found := [int(number) for number in numbers]), max(found)
    return counted(low, what) if low == high else f"{low} to {counted(high, what)}"


def over(spread: Spread) -> str:
    """What points and bands are."""
    return f"mean {PLUS_MINUS} 1 sd, {spread.n} seeds" if spread.n > 1 else "1 seed"


def rounded(value: float) -> float | None:
    """What a chart stores of a number; a mark without one is not drawn."""
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def inline(rows: Sequence[Row]) -> alt.InlineData:
    """Rows inside the chart."""
    return alt.InlineData(values=list(rows))


def layered(
    *layers: alt.Chart | alt.LayerChart, rows: Sequence[Row] | None = None
) -> alt.LayerChart:
    """Layers on one pair of axes, over rows that they share where they have none of their own."""
    chart = alt.layer(*layers)
    assert isinstance(chart, alt.LayerChart)  # not a facet: no layer is one
    return chart if rows is None else chart.properties(data=inline(rows))


def figure(
    chart: alt.Chart | alt.LayerChart,
    heading: str,
    below: str,
    alternative: str,
    height: float = 260,
) -> Figure:
    """A chart with a heading and, in small letters, what its marks are.

    Raises:
        altair.SchemaValidationError: the chart is not valid Vega-Lite.
    """
    narrow, wide = (json.dumps(wrap(heading, room)) for room in (NARROW, 2 * NARROW))
    words = alt.ExprRef(expr=f"width < {PHONE} ? {narrow} : {wide}")
    title = alt.TitleParams(text=words, subtitle=wrap(below, NARROW + 9))
    spec = chart.properties(width="container", height=height, title=title).to_dict()
    del spec["$schema"], spec["config"]  # an address, and Altair's own look
    return Figure(spec, alternative)
