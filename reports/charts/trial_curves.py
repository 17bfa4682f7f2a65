"""Learning curves of the sweep's trials."""

import altair as alt
import pandas as pd

from reports.charts.figure import Figure
from reports.charts.look import BLUE
from reports.charts.series import (
    CHOSEN,
    SERIES,
    Row,
    colour,
    counted,
    faded,
    figure,
    inline,
    layered,
    pointed_trial,
    tooltips,
    whole_axis,
)
from reports.spread import setting, title
from reports.stored.artefacts import Artefacts
from reports.tables.sweep import margins, trials_of, varied


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
        f"a line per trial, {counted(len(rows), 'trial')}",
        f"Dev accuracy by epoch of {counted(len(rows), 'trial')} of {title(model)}: best "
        f"{100 * best['dev_accuracy']:.1f} % at epoch {best['best_epoch']} (trial {best['key']}); "
        f"after their last epoch {min(ends):.1f} to {max(ends):.1f} %.",
    )


def _settings(row: "pd.Series[float]", shown: tuple[str, ...]) -> Row:
    """What a tooltip tells of a trial."""
    best = f"{100 * row['dev_accuracy']:.1f} % at epoch {row['best_epoch']}"
    return {"key": str(row["key"]), "best": best, **{n: setting(str(row[n])) for n in shown}}


def _curves(
    rows: list[Row], values: list[str], name: str | None, shown: tuple[str, ...]
) -> alt.LayerChart:
    pointed = pointed_trial()
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
