"""The two studies: what each deviation costs, and the ways of halting."""

from typing import NamedTuple

import altair as alt

from reports.blocks import Figure
from reports.charts.look import BLUE, COLOURS, INK, MUTED, ORANGE
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
    rounded,
    shape,
    tooltips,
    with_legend,
)
from reports.spread import KINDS, Spread, title
from reports.stored.artefacts import Artefacts
from reports.studies.fidelity import Variant, variants
from reports.studies.halting import halting_points

STEP = 36  # px of a variant: its name, and below it its interval
BELOW, UNCLEAR, ABOVE = "clearly below", "not clear", "clearly above"
LOOKS = {BELOW: (ORANGE, "triangle-down"), UNCLEAR: (MUTED, "circle"), ABOVE: (BLUE, "triangle-up")}


def fidelity(artefacts: Artefacts, model: str) -> Figure:
    """Differences in test accuracy from the first variant, each with its interval."""
    first, *others = variants(artefacts, model)
    rows = [_variant(variant, artefacts.level) for variant in others]
    counts = {look: sum(row[SERIES] == look for row in rows) for look in LOOKS}
    said = ", ".join(f"{count} {look}" for look, count in counts.items())
    clear = [v for v in others if v.difference.clear(artefacts.level)]
    each = [f"{v.name} {v.difference.points()}" for v in clear]
    named = f" Clear ones, points: {'; '.join(each)}." if each else ""
    return figure(
        _intervals(rows),
        f"{title(model)}: test accuracy against “{first.name}”",
        "difference with its 95 % interval",
        f"Difference in test accuracy of {len(others)} variants of {title(model)} from "
        f"“{first.name}”, which has {first.test.percent()} %, with 95 % intervals: {said}.{named}",
        height=STEP * max(1, len(rows)),
    )


def _variant(v: Variant, level: float) -> Row:
    mean, low, high = (100 * x for x in (v.difference.mean, v.difference.low, v.difference.high))
    look = UNCLEAR
    if v.difference.clear(level):
        look = BELOW if mean < 0 else ABOVE
    row: Row = {SERIES: look, "name": v.name, "changes": v.changes or "nothing"}
    row |= {"x": rounded(mean), "low": rounded(low), "high": rounded(high)}
    row |= {"difference": v.difference.points(), "test": f"{v.test.percent()} %"}
    return row | {"n": str(v.test.n), "pairs": f"{v.pairs:,}"}


def _intervals(rows: list[Row]) -> alt.LayerChart:
    """A row per variant, named above its interval: beside it names leave no room on a phone."""
    places = [str(row["name"]) for row in rows]
    y = alt.Y("name:N", sort=places, axis=None, scale=alt.Scale(domain=places))
    x = alt.X("x:Q", title="difference in test accuracy (points)")
    names = list(LOOKS)
    told = {"name": "variant", "changes": "what it changes", "test": "test accuracy"}
    told |= {"difference": "difference, points", "n": "seeds", "pairs": "pairs"}
    coloured = colour(names, colours=[LOOKS[name][0] for name in names])
    shapes = alt.Scale(domain=names, range=[LOOKS[name][1] for name in names])
    base = alt.Chart(inline(rows)).encode(y=y, color=coloured, opacity=faded(1))
    bar = base.mark_rule(strokeWidth=2, yOffset=6).encode(x=alt.X("low:Q"), x2="high:Q")
    point = base.mark_point(filled=True, yOffset=6).encode(
        x=x,
        shape=alt.Shape(f"{SERIES}:N", scale=shapes, legend=legend(names)),
        size=lifted(60, 110),
        tooltip=tooltips(told),
    )
    name = alt.Chart(inline(rows)).mark_text(align="left", yOffset=-9, limit=300, color=INK)
    zero = alt.Chart(alt.InlineData(values=[{"x": 0}])).mark_rule(color=MUTED).encode(x="x:Q")
    layers = [zero, with_legend(bar), point.properties(name="points").add_params(POINTED)]
    return layered(*layers, name.encode(y=y, x=alt.value(0), text="name:N"))


class Placed(NamedTuple):
    """A setting of a way of halting: mean steps, and a share such as accuracy, over seeds.

    way: the series. name: way and setting in words.
    """

    way: str
    setting: str
    name: str
    steps: Spread
    share: Spread


def halting(artefacts: Artefacts) -> Figure:
    """Dev accuracy against mean steps of the stage's points."""
    found = [(KINDS[p.kind], p) for p in halting_points(artefacts)]
    placed = [
        Placed(way, p.label, f"{way} with {p.label}", p.steps, p.accuracy) for way, p in found
    ]
    return by_steps(placed, "Ways of halting", "dev accuracy", "dev pair", highest=True)


def by_steps(points: list[Placed], heading: str, share: str, of: str, highest: bool) -> Figure:
    """A share against mean steps, both with an sd over seeds; a series per way of halting.

    Args:
        share: what it is of. of: what takes the steps. highest: whether more of it is better.
    """
    found = sorted(points, key=lambda p: p.steps.mean)
    ways = list(dict.fromkeys(p.way for p in points))
    most = max(found, key=lambda p: p.share.n).share
    bests = [_best([p for p in found if p.way == way], highest) for way in ways]
    each = [f"{p.way} {p.share.percent()} % at {p.steps.plain()} steps" for p in bests]
    return figure(
        _scatter([_point(p) for p in found], ways, share, of),
        f"{heading}: a point per setting",
        over(most),
        f"{share.capitalize()} against mean steps per {of} of {len(found)} settings of {len(ways)} "
        f"ways of halting ({over(most)}). {'Highest' if highest else 'Lowest'}: "
        f"{_best(found, highest).name}. Best of each: {'; '.join(each)}.",
        height=300,
    )


def _best(points: list[Placed], highest: bool) -> Placed:
    return max(points, key=lambda p: p.share.mean if highest else -p.share.mean)


def _point(p: Placed) -> Row:
    row: Row = {SERIES: p.way, "setting": p.setting, "n": str(p.share.n)}
    for name, spread, scale in (("x", p.steps, 1), ("y", p.share, 100)):
        row[name] = rounded(scale * spread.mean)
        sd = spread.sd or 0.0
        row[f"{name}_low"] = rounded(scale * (spread.mean - sd))
        row[f"{name}_high"] = rounded(scale * (spread.mean + sd))
    return row | {"share": f"{p.share.percent()} %", "steps": p.steps.plain()}


def _scatter(rows: list[Row], names: list[str], share: str, of: str) -> alt.LayerChart:
    told = {SERIES: "halting", "setting": "setting", "share": share}
    told |= {"steps": "mean steps", "n": "seeds"}
    axis = alt.Axis(title=f"mean steps per {of}", grid=False)
    x = alt.X("x:Q", axis=axis, scale=alt.Scale(zero=False))
    y = alt.Y("y:Q", title=f"{share} (%)", scale=alt.Scale(zero=False))
    coloured = colour(names, colours=COLOURS)
    base = alt.Chart(inline(rows)).encode(color=coloured)
    line = base.mark_line(strokeDash=[1, 3], strokeWidth=1).encode(x=x, y=y, opacity=faded(0.8))
    bars = base.mark_rule(strokeWidth=1.2)
    up = bars.encode(x=x, y=alt.Y("y_low:Q"), y2="y_high:Q", opacity=faded(0.7))
    across = bars.encode(x=alt.X("x_low:Q"), x2="x_high:Q", y=y, opacity=faded(0.7))
    point = base.mark_point(filled=True).encode(
        x=x,
        y=y,
        shape=shape(names),
        opacity=faded(1),
        size=lifted(60, 120),
        tooltip=tooltips(told),
    )
    pointed = point.properties(name="points").add_params(POINTED)
    return layered(with_legend(line), up, across, pointed)
