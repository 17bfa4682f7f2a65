"""Means over seeds as lines over whole numbers, such as epochs, steps or difficulties."""

from collections.abc import Mapping, Sequence

from reports.charts.figure import Figure
from reports.charts.lines import lines, mean_row
from reports.charts.look import COLOURS
from reports.charts.series import SERIES, Row, counted, figure, layered, over, repeated
from reports.spread import Spread

ByWhole = tuple[str, Mapping[int, Spread | None]]  # a series by name: where it is, and what


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
