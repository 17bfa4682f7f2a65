"""Trials of the sweep against their settings, one by one: each a point, and means with their sd."""

import altair as alt

from reports.blocks import Figure
from reports.charts.look import BLUE, INK, ORANGE
from reports.charts.series import (
    POINTED_TRIAL,
    Row,
    beside,
    figure,
    inline,
    layered,
    rounded,
    tooltips,
)
from reports.findings import counted
from reports.spread import PLUS_MINUS, Spread, setting, title
from reports.stored.artefacts import Artefacts
from reports.tables.sweep import Group, margins, ponder_weights, trials_of, varied

STEP = 20  # px of a row
HEADING, VALUE = "setting", "value"
ROOM = 38  # characters of labels that fit side by side on a phone


def slices(artefacts: Artefacts, model: str) -> Figure:
    """Dev accuracy of every trial against each value of each varied setting, and the means.

    A trial is stored once; the chart repeats it for each setting.
    """
    groups, names = margins(artefacts, model), varied(artefacts, model)
    lines: list[str] = []
    for name in names:
        lines += [name, *(_place(g) for g in groups if name in g.values)]
    trials = [
        {"key": str(row["key"]), "y": rounded(100 * row["dev_accuracy"])}
        | {"beside": beside(at), "shown": f"{100 * row['dev_accuracy']:.1f} %"}
        | {n: setting(str(row[n])) for n in names}
        for at, (_, row) in enumerate(trials_of(artefacts, model).iterrows())
    ]
    return figure(
        _slices(trials, [_mean(group) for group in groups], names, lines),
        f"{title(model)}, sweep: dev accuracy by each setting",
        f"points: trials; diamonds: mean {PLUS_MINUS} 1 sd",
        f"Dev accuracy of {counted(len(trials), 'trial')} of {title(model)} by each value of each "
        f"setting that its grid varies, mean {PLUS_MINUS} sd: {'; '.join(_said(groups, names))}.",
        height=STEP * len(lines),
    )


def _place(group: Group) -> str:
    ((name, value),) = group.values.items()
    return f"{name} = {setting(value)}"


def _mean(group: Group) -> Row:
    ((name, value),) = group.values.items()
    mean, sd = group.dev_accuracy.mean, group.dev_accuracy.sd or 0.0
    row: Row = {"line": _place(group), HEADING: name, VALUE: setting(value)}
    row |= {"y": rounded(100 * mean), "low": rounded(100 * (mean - sd))}
    row |= {"high": rounded(100 * (mean + sd)), "n": str(group.trials)}
    return row | {"shown": f"{group.dev_accuracy.percent()} %"}


def _said(groups: list[Group], names: tuple[str, ...]) -> list[str]:
    """The values of each setting with the highest and the lowest mean."""
    said = []
    for name in names:
        of = [group for group in groups if name in group.values]
        best = max(of, key=lambda group: group.dev_accuracy.mean)
        worst = min(of, key=lambda group: group.dev_accuracy.mean)
        each = [f"{g.dev_accuracy.percent()} % at {setting(g.values[name])}" for g in (best, worst)]
        said.append(f"{name}, {' and '.join(dict.fromkeys(each))}")
    return said


def _slices(
    trials: list[Row], means: list[Row], names: tuple[str, ...], lines: list[str]
) -> alt.LayerChart:
    axis = alt.Axis(
        title=None,
        labelExpr="split(datum.label, ' = ').length > 1 ? split(datum.label, ' = ')[1] : ''",
        grid=False,
    )
    y = alt.Y("line:N", sort=lines, axis=axis, scale=alt.Scale(domain=lines))
    x = alt.X("y:Q", title="dev accuracy (%)", scale=alt.Scale(zero=False))
    strip = (
        alt.Chart(inline(trials))
        .transform_fold(list(names), as_=[HEADING, VALUE])
        .transform_calculate(line=f"datum.{HEADING} + ' = ' + datum.{VALUE}")
        .mark_point(filled=True, shape="circle")
        .encode(
            x=x,
            y=y,
            yOffset=alt.YOffset("beside:Q", scale=alt.Scale(domain=[-0.3, 1.3])),
            color=alt.when(POINTED_TRIAL).then(alt.value(INK)).otherwise(alt.value(BLUE)),
            opacity=alt.when(POINTED_TRIAL).then(alt.value(1)).otherwise(alt.value(0.45)),
            size=alt.when(POINTED_TRIAL).then(alt.value(70)).otherwise(alt.value(26)),
            tooltip=tooltips({"key": "trial", "shown": "dev accuracy", **{n: n for n in names}}),
        )
        .properties(name="strips")
        .add_params(POINTED_TRIAL)
    )
    base = alt.Chart(inline(means)).encode(y=y)
    bar = base.mark_rule(color=INK, strokeWidth=1.5).encode(x=alt.X("low:Q"), x2="high:Q")
    told = {HEADING: "setting", VALUE: "value", "shown": "mean dev accuracy", "n": "trials"}
    point = base.mark_point(filled=True, color=INK, shape="diamond", size=70)
    heads = alt.Chart(inline([{"line": name} for name in names])).encode(y=y)
    head = heads.mark_text(align="left", fontWeight="bold", color=INK).encode(
        x=alt.value(0), text="line:N"
    )
    return layered(strip, bar, point.encode(x=x, tooltip=tooltips(told)), head)


def ponder_weight(artefacts: Artefacts, model: str) -> Figure:
    """Dev accuracy of the sweep's trials by ponder weight; evenly spaced values."""
    return _by_weight(artefacts, model, "dev_accuracy", "dev accuracy", "dev accuracy (%)", BLUE)


def ponder_steps(artefacts: Artefacts, model: str) -> Figure:
    """Mean steps of the sweep's trials by ponder weight."""
    up = "mean steps per dev pair"
    return _by_weight(artefacts, model, "dev_mean_steps", up, up, ORANGE)


def _by_weight(
    artefacts: Artefacts, model: str, column: str, what: str, up: str, colour: str
) -> Figure:
    scale, unit = (100, " %") if column == "dev_accuracy" else (1, "")
    trials: list[Row] = []
    means: list[Row] = []
    said: list[str] = []
    rows_of = trials_of(artefacts, model)
    for weight in ponder_weights(artefacts, model):
        rows = rows_of[rows_of["ponder_weight"] == weight]
        label = setting(weight)
        for key, value in zip(rows["key"], rows[column], strict=True):
            shown = f"{scale * value:.1f} %" if scale == 100 else f"{value:.2f}"
            found: Row = {"weight": label, "y": rounded(scale * value)}
            found["beside"] = beside(len(trials))
            trials.append(found | {"key": str(key), "value": shown})
        spread = Spread.of(rows[column])
        worded = (spread.percent() if scale == 100 else spread.plain()) + unit
        mean: Row = {"weight": label, "y": rounded(scale * spread.mean), "value": worded}
        sd = spread.sd or 0.0
        ends = [rounded(scale * (spread.mean + sign * sd)) for sign in (-1, 1)]
        means.append(mean | {"low": ends[0], "high": ends[1], "n": str(spread.n)})
        said.append(f"{worded} at {label}")
    return figure(
        _by_weight_strips(trials, means, what, up, colour),
        f"{title(model)}, sweep: {what} by ponder weight",
        f"points: trials; diamonds: mean {PLUS_MINUS} 1 sd",
        f"{what[0].upper()}{what[1:]} of {title(model)} by ponder weight, mean {PLUS_MINUS} sd of "
        f"the sweep's trials: {', '.join(said)}.",
    )


def _by_weight_strips(
    trials: list[Row], means: list[Row], what: str, up: str, colour: str
) -> alt.LayerChart:
    """A strip of trials per weight, and over it a mean with its spread."""
    labels = [str(row["weight"]) for row in means]
    slant = -40 if sum(len(label) + 1 for label in labels) > ROOM else 0
    axis = alt.Axis(title="ponder weight λ", labelAngle=slant, grid=False)
    x = alt.X("weight:N", sort=labels, axis=axis, scale=alt.Scale(padding=0.2))
    y = alt.Y("y:Q", title=up, scale=alt.Scale(zero=False))
    offset = alt.XOffset("beside:Q", scale=alt.Scale(domain=[-0.4, 1.4]))
    told = {"weight": "ponder weight", "value": what}
    dots = (
        alt.Chart(inline(trials))
        .mark_point(filled=True, color=colour, opacity=0.45, size=32)
        .encode(x=x, y=y, xOffset=offset, tooltip=tooltips({"key": "trial", **told}))
    )
    base = alt.Chart(inline(means)).encode(x=x)
    line = base.mark_line(color=INK, strokeWidth=1, opacity=0.6).encode(y=y)
    bar = base.mark_rule(color=INK, strokeWidth=1.5).encode(y=alt.Y("low:Q", title=up), y2="high:Q")
    point = base.mark_point(filled=True, color=INK, shape="diamond", size=70)
    mean = point.encode(y=y, tooltip=tooltips({**told, "n": "trials"}))
    return layered(dots, line, bar, mean)
