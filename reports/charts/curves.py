"""Curves by epoch: accuracy of retrained models and of the trials of the sweep, and their steps."""

import altair as alt
import pandas as pd

from reports.blocks import Figure
from reports.charts.lines import PART, lines
from reports.charts.look import BLUE, INK
from reports.charts.series import (
    CHOSEN,
    POINTED_TRIAL,
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
from reports.findings import MANY, counted
from reports.spread import PLUS_MINUS, setting, title
from reports.stored.artefacts import Artefacts
from reports.tables.sweep import margins, steps_by_epoch, trials_of, varied

DEV, TRAINING = "dev", "training, with dropout"
OF_DEV, OF_TRAINING = "dev pairs", "training pairs, with dropout"
TOLD = {SERIES: "retrained with", "epoch": "epoch", PART: "pairs", "accuracy": "accuracy, %"}


def learning_curves(artefacts: Artefacts, model: str) -> Figure:
    """Accuracy by epoch of each retrained seed of a model; the epoch that was kept is marked."""
    history = artefacts.history[artefacts.history["model"] == model]
    rows: list[Row] = []
    for seed, epochs in history.groupby("seed", sort=True):
        rows += _rows(f"seed {seed}", epochs)
    kept = [row for row in rows if row.pop("kept")]
    names = list(dict.fromkeys(str(row[SERIES]) for row in rows))
    drawn = lines(rows, names, "epoch", "accuracy (%)", TOLD, parts=(DEV, TRAINING))
    marks = (
        alt.Chart(alt.InlineData(values=kept))
        .mark_point(filled=True, size=110, stroke=INK, strokeWidth=1.5, shape="circle")
        .encode(x="x:Q", y="y:Q", color=colour(names), opacity=faded(1), tooltip=tooltips(TOLD))
    )
    return figure(
        layered(*drawn, marks),
        f"{title(model)}: accuracy by epoch",
        "a large point is the epoch that was kept",
        f"Accuracy by epoch of {title(model)}, {counted(len(names), 'seed')}. {_said(rows, kept)}",
    )


def _rows(name: str, epochs: pd.DataFrame) -> list[Row]:
    """Dev and training rows of one seed; kept is the first epoch with the best dev accuracy."""
    best = epochs["epoch"].iloc[int(epochs["dev_accuracy"].argmax())]
    rows: list[Row] = []
    for part, column in ((DEV, "dev_accuracy"), (TRAINING, "train_accuracy")):
        for epoch, accuracy in zip(epochs["epoch"], epochs[column], strict=True):
            row: Row = {SERIES: name, PART: part, "x": int(epoch), "y": rounded(100 * accuracy)}
            row |= {"epoch": str(epoch), "accuracy": f"{100 * accuracy:.1f}"}
            rows.append(row | {"kept": part == DEV and epoch == best})
    return rows


def _said(rows: list[Row], kept: list[Row]) -> str:
    """The epochs that were kept, and where training ended."""
    each = [f"{row['accuracy']} % at epoch {row['epoch']} ({row[SERIES]})" for row in kept]
    if len(kept) > MANY:
        each = [f"{_range([row['accuracy'] for row in kept])} over the seeds"]
    training = [row for row in rows if row[PART] == TRAINING]
    last = {row[SERIES]: row["accuracy"] for row in training}
    return (
        f"Dev accuracy of the epoch that was kept: {', '.join(each)}. Training accuracy, with "
        f"dropout, in the last epoch: {_range(list(last.values()))}."
    )


def _range(accuracies: list[str]) -> str:
    least, most = min(accuracies, key=float), max(accuracies, key=float)
    return f"{least} %" if least == most else f"{least} to {most} %"


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
        strokeWidth=alt.when(POINTED_TRIAL)
        .then(alt.value(3))
        .otherwise(alt.value(0.9 if many else 1.4)),
        tooltip=tooltips(told),
    )
    return layered(line.properties(name="curves").add_params(CHOSEN, POINTED_TRIAL))


def steps_while_training(artefacts: Artefacts, model: str) -> Figure:
    """Mean steps of dev and training pairs by epoch, a line each per ponder weight."""
    rows: list[Row] = []
    ends: dict[str, str] = {}
    for epoch in steps_by_epoch(artefacts, model):
        name = setting(epoch.ponder_weight)
        place = {SERIES: name, "x": epoch.epoch, "epoch": str(epoch.epoch), "n": str(epoch.dev.n)}
        for part, steps in ((OF_DEV, epoch.dev), (OF_TRAINING, epoch.train)):
            row: Row = {**place, PART: part, "y": rounded(steps.mean)}
            row["value"] = f"{steps.plain()} between pairs"
            sd = steps.sd or 0.0
            band = {"low": rounded(steps.mean - sd), "high": rounded(steps.mean + sd)}
            rows.append(row | (band if part == OF_DEV else {}))
        ends[name] = f"{epoch.dev.mean:.2f} (sd {epoch.dev.sd:.2f}) at {name}"
    names = list(ends)
    told = {SERIES: "ponder weight", "epoch": "epoch", PART: "of", "value": "steps", "n": "trials"}
    return figure(
        layered(
            *lines(
                rows,
                names,
                "epoch",
                "steps per pair",
                told,
                (OF_DEV, OF_TRAINING),
                "ponder weight λ",
            )
        ),
        f"{title(model)}, sweep: steps by epoch and ponder weight",
        f"bands: {PLUS_MINUS} 1 sd between dev pairs",
        f"Mean steps of {title(model)} by epoch and ponder weight, over the sweep's trials. Per "
        f"dev pair after the last epoch: {', '.join(ends.values())}.",
    )
