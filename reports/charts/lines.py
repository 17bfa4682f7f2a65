"""Lines with points, and bands where there is a spread."""

from collections.abc import Mapping, Sequence

import altair as alt

from reports.blocks import Figure
from reports.charts.look import COLOURS
from reports.charts.series import (
    POINTED,
    SERIES,
    Row,
    colour,
    faded,
    figure,
    inline,
    layered,
    legend,
    lifted,
    over,
    repeated,
    rounded,
    shape,
    tooltips,
    whole_axis,
    with_legend,
)
from reports.findings import counted
from reports.spread import Spread

PART = "part"  # the field that says which of two lines of a series a row belongs to
DASHES = ([1, 0], [2, 3])
ByWhole = tuple[str, Mapping[int, Spread | None]]  # a series by name: where it is, and what


def mean_row(series: str, at: float, spread: Spread, scale: float = 1) -> Row:
    """A point of a line, with the ends of its band where there is a spread."""
    row: Row = {SERIES: series, "x": at, "y": rounded(scale * spread.mean), "n": str(spread.n)}
    if spread.sd is not None:
        row["low"] = rounded(scale * (spread.mean - spread.sd))
        row["high"] = rounded(scale * (spread.mean + spread.sd))
    return row


def lines(
    rows: Sequence[Row],
    names: Sequence[str],
    across: str,
    up: str,
    told: Mapping[str, str],
    parts: Sequence[str] = (),
    heading: str | None = None,
    colours: Sequence[str] = COLOURS,
    levels: Sequence[str] = (),
) -> list[alt.Chart]:
    """The layers of a line per series over whole numbers.

    Args:
        rows: each with series, x, y, what is told, and low and high where there is a band.
        names: the series in their order.
        across, up: titles of the axes, with units.
        told: field -> heading of the lines of a tooltip.
        parts: names of the two lines of each series, where it has two: solid and dotted.
        heading: what the legend calls the series.
        levels: series that something else draws, as a level line.
    """
    x = alt.X(
        "x:Q",
        axis=whole_axis(across, [row["x"] for row in rows]),
        scale=alt.Scale(zero=False, nice=False, padding=8),
    )
    y = alt.Y("y:Q", title=up, scale=alt.Scale(zero=False))
    coloured = colour(names, title=heading, colours=colours)
    base = alt.Chart(inline(rows)).encode(x=x, color=coloured)
    line = base.mark_line().encode(y=y, opacity=faded(1), strokeWidth=lifted(1.8, 3))
    point = base.mark_point(filled=True).encode(
        y=y,
        shape=shape(names, heading, levels),
        opacity=faded(1),
        size=lifted(34, 80),
        tooltip=tooltips(told),
    )
    if parts:
        dash = alt.Scale(domain=list(parts), range=[list(dash) for dash in DASHES])
        line = line.encode(strokeDash=alt.StrokeDash(f"{PART}:N", scale=dash, legend=legend(parts)))
    layers = [line, point.properties(name="points").add_params(POINTED)]
    if any("low" in row for row in rows):
        band = base.mark_area().encode(
            y=alt.Y("low:Q", title=up), y2="high:Q", opacity=faded(0.16), detail=f"{PART}:N"
        )
        layers.insert(0, band.transform_filter("isValid(datum.low)"))
    layers[0] = with_legend(layers[0])
    return layers


def spread_lines(
    found: Sequence[ByWhole],
    axes: tuple[str, str],
    heading: str,
    alternative: str,
    percent: bool = False,
    of: str = "run",
) -> Figure:
    """A line for each series that has figures; bands are one sd over seeds.

    Args:
        found: all series, also such as have no figures: they keep their colours for others.
        axes: across and up, the latter with `(%)` where spreads are shares that are shown so.
        of: what a series is.
        alternative: what is shown, to which counts and the ends of each line are added.
    """
    across, up = axes
    rows: list[Row] = []
    said, spreads = [], []
    for name, by in found:
        told = {}
        for at, spread in by.items():
            if spread is None:
                continue
            told[at] = f"{spread.percent()} %" if percent else spread.plain()
            row = mean_row(name, at, spread, scale=100 if percent else 1)
            rows.append(row | {"at": str(at), "shown": told[at]})
            spreads.append(spread)
        ends = [f"{told[at]} at {at}" for at in sorted({min(told), max(told)})] if told else []
        said += [f"{name}, {' and '.join(ends)}"] if ends else []
    names = list(dict.fromkeys(str(row[SERIES]) for row in rows))
    of_all = zip(found, repeated(COLOURS, len(found)), strict=True)  # the same in every figure
    colours = [colour for (name, _), colour in of_all if name in names]
    tips = {SERIES: of, "at": across, "shown": up.removesuffix(" (%)"), "n": "seeds"}
    most = max(spreads, key=lambda spread: spread.n)
    return figure(
        layered(*lines(rows, names, across, up, tips, colours=colours)),
        heading,
        over(most),
        f"{alternative}, {counted(len(names), of)} ({over(most)}): {'; '.join(said)}.",
    )
