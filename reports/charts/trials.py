"""The sweep's trials one by one: their learning curves, and slices of their grid."""

import altair as alt
import pandas as pd

from reports.artefacts import Artefacts
from reports.charts.figure import Figure
from reports.charts.look import BLUE, INK
from reports.charts.series import (
    CHOSEN,
    SERIES,
    Row,
    colour,
    faded,
    figure,
    inline,
    layered,
    rounded,
    tooltips,
    whole_axis,
)
from reports.spread import PLUS_MINUS, setting, title
from reports.sweep import Group, margins, trials_of, varied

STEP = 20  # px of a row
GOLDEN = 0.6180339887  # multiples of it modulo 1 never crowd
HEADING, VALUE = "setting", "value"


def telling(artefacts: Artefacts, model: str) -> str | None:
    """The varied setting whose values' mean dev accuracies lie farthest apart; the first of equals.

    None where the grid varies nothing.
    """
    found: dict[str, list[float]] = {name: [] for name in varied(artefacts, model)}
    for group in margins(artefacts, model):
        found[next(iter(group.values))].append(group.dev_accuracy.mean)
    return max(found, key=lambda name: max(found[name]) - min(found[name]), default=None)


def sweep_curves(artefacts: Artefacts, model: str) -> Figure:
    """Dev accuracy by epoch, a thin line per trial, coloured by the most telling setting.

    A trial is stored as one row with its accuracies in a list, which the chart takes apart.
    """
    trials, name = trials_of(artefacts, model), telling(artefacts, model)
    history = artefacts.sweep_history[artefacts.sweep_history["model"] == model]
    by_key = {
        str(key): [round(100 * a, 2) for a in epochs.sort_values("epoch")["dev_accuracy"]]
        for key, epochs in history.groupby("key", sort=False)
    }
    shown = varied(artefacts, model)
    rows = [
        _settings(row, shown)
        | {SERIES: setting(str(row[name])) if name else "trial", "dev": by_key[str(row["key"])]}
        for _, row in trials.iterrows()
    ]
    values = list(dict.fromkeys(str(row[SERIES]) for row in rows))
    rows.sort(key=lambda row: str(row["key"]))  # a hash: no value lies over the others
    best = trials.iloc[int(trials["dev_accuracy"].argmax())]
    ends = [by_key[str(key)][-1] for key in trials["key"]]
    return figure(
        _curves(rows, values, name, tuple(shown)),
        f"{title(model)}, sweep: dev accuracy by epoch",
        f"a line per trial, {_trials(len(rows))}",
        f"Dev accuracy by epoch of {_trials(len(rows))} of {title(model)}: best "
        f"{100 * best['dev_accuracy']:.1f} % at epoch {best['best_epoch']} (trial {best['key']}); "
        f"after their last epoch {min(ends):.1f} to {max(ends):.1f} %.",
    )


def _settings(row: "pd.Series[float]", shown: tuple[str, ...]) -> Row:
    """What a tooltip tells of a trial."""
    best = f"{100 * row['dev_accuracy']:.1f} % at epoch {row['best_epoch']}"
    return {"key": str(row["key"]), "best": best, **{n: setting(str(row[n])) for n in shown}}


def _trials(count: int) -> str:
    return f"{count} trial{'s' if count > 1 else ''}"


def _curves(
    rows: list[Row], values: list[str], name: str | None, shown: tuple[str, ...]
) -> alt.LayerChart:
    pointed = alt.selection_point(
        name="pointed", fields=["key"], on="pointerover", clear="pointerout", empty=False
    )
    told = {"key": "trial", "best": "best dev accuracy", **{n: n for n in shown}}
    base = (
        alt.Chart(inline(rows))
        .transform_calculate(epoch="sequence(1, length(datum.dev) + 1)")
        .transform_flatten(["epoch", "dev"], as_=["epoch", "accuracy"])
    )
    longest = max(len(row["dev"]) for row in rows)
    many = len(rows) > 60
    line = base.mark_line().encode(
        x=alt.X(
            "epoch:Q",
            axis=whole_axis("epoch", [1, longest]),
            scale=alt.Scale(zero=False, nice=False),
        ),
        y=alt.Y("accuracy:Q", title="dev accuracy (%)", scale=alt.Scale(zero=False)),
        color=colour(values, title=name) if name else alt.value(BLUE),
        detail="key:N",
        strokeOpacity=faded(0.45 if many else 0.8),
        strokeWidth=alt.when(pointed).then(alt.value(3)).otherwise(alt.value(0.9 if many else 1.4)),
        tooltip=tooltips(told),
    )
    return layered(line.properties(name="curves").add_params(CHOSEN, pointed))


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
        | {"beside": round(at * GOLDEN % 1, 3), "shown": f"{100 * row['dev_accuracy']:.1f} %"}
        | {n: setting(str(row[n])) for n in names}
        for at, (_, row) in enumerate(trials_of(artefacts, model).iterrows())
    ]
    return figure(
        _strips(trials, [_mean(group) for group in groups], names, lines),
        f"{title(model)}, sweep: dev accuracy by each setting",
        f"points: trials; diamonds: mean {PLUS_MINUS} 1 sd",
        f"Dev accuracy of {_trials(len(trials))} of {title(model)} by each value of each setting "
        f"that its grid varies, mean {PLUS_MINUS} sd: {'; '.join(_said(groups, names))}.",
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


def _strips(
    trials: list[Row], means: list[Row], names: tuple[str, ...], lines: list[str]
) -> alt.LayerChart:
    pointed = alt.selection_point(
        name="pointed", fields=["key"], on="pointerover", clear="pointerout", empty=False
    )
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
            color=alt.when(pointed).then(alt.value(INK)).otherwise(alt.value(BLUE)),
            opacity=alt.when(pointed).then(alt.value(1)).otherwise(alt.value(0.45)),
            size=alt.when(pointed).then(alt.value(70)).otherwise(alt.value(26)),
            tooltip=tooltips({"key": "trial", "shown": "dev accuracy", **{n: n for n in names}}),
        )
        .properties(name="strips")
        .add_params(pointed)
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
