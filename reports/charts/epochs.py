"""Learning curves of the retrained models: a line per seed."""

import altair as alt
import pandas as pd

from reports.charts.figure import Figure
from reports.charts.lines import PART, lines
from reports.charts.look import INK
from reports.charts.series import SERIES, Row, colour, faded, figure, layered, rounded, tooltips
from reports.featured import MANY
from reports.spread import title
from reports.stored.artefacts import Artefacts

DEV, TRAINING = "dev", "training, with dropout"
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
        f"Accuracy by epoch of {title(model)}, {_seeds(len(names))}. {_said(rows, kept)}",
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


def _seeds(count: int) -> str:
    return f"{count} seed{'s' if count > 1 else ''}"


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
