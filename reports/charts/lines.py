"""Lines with points, and bands where there is a spread."""

from collections.abc import Iterator, Mapping, Sequence

import altair as alt

from reports.blocks import Chart
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
Line = tuple[str, Mapping[int, Spread]]  # a series by name: where it is, and what


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
    name: str,
    found: Sequence[Line],
    axes: tuple[str, str],
    heading: str,
    alternative: str,
    percent: bool = False,
    of: str = "run",
) -> Iterator[Chart]:
    """A line for each series that has figures; bands are one sd over seeds. No chart without any.

    Args:
        found: all series, also such as have no figures: they keep their colours for others.
        axes: across and up, the latter with `(%)` where spreads are shares that are shown so.
        of: what a series is.
        alternative: what is shown, to which counts and the ends of each line are added.
    """
    across, up = axes
    rows: list[Row] = []
    said, names, colours = [], [], []
    for (series, by), own in zip(found, repeated(COLOURS, len(found)), strict=True):
        told = {at: f"{s.percent()} %" if percent else s.plain() for at, s in by.items()}
        for at, spread in by.items():
            row = mean_row(series, at, spread, scale=100 if percent else 1)
            rows.append(row | {"at": str(at), "shown": told[at]})
        if told:
            ends = [f"{told[at]} at {at}" for at in sorted({min(told), max(told)})]
            said.append(f"{series}, {' and '.join(ends)}")
            names.append(series)
            colours.append(own)
    if not rows:
        return
    tips = {SERIES: of, "at": across, "shown": up.removesuffix(" (%)"), "n": "seeds"}
    most = max((spread for _, by in found for spread in by.values()), key=lambda s: s.n)
    drawn = figure(
        layered(*lines(rows, names, across, up, tips, colours=colours)),
        heading,
        over(most),
        f"{alternative}, {counted(len(names), of)} ({over(most)}): {'; '.join(said)}.",
    )
    yield Chart(name, drawn)
