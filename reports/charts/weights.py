"""Steps and accuracy of the sweep's trials by ponder weight, and steps as they train."""

import altair as alt

from reports.charts.figure import Figure
from reports.charts.lines import PART, lines
from reports.charts.look import BLUE, INK, ORANGE
from reports.charts.series import SERIES, Row, beside, figure, inline, layered, rounded, tooltips
from reports.spread import PLUS_MINUS, Spread, setting, title
from reports.stored.artefacts import Artefacts
from reports.tables.steps import ponder_weights, steps_by_epoch
from reports.tables.sweep import trials_of

LAMBDA = "ponder weight λ"
ROOM = 38  # characters of labels that fit side by side on a phone
DEV, TRAINING = "dev pairs", "training pairs, with dropout"


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
        _strips(trials, means, what, up, colour),
        f"{title(model)}, sweep: {what} by ponder weight",
        f"points: trials; diamonds: mean {PLUS_MINUS} 1 sd",
        f"{what[0].upper()}{what[1:]} of {title(model)} by ponder weight, mean {PLUS_MINUS} sd of "
        f"the sweep's trials: {', '.join(said)}.",
    )


def _strips(trials: list[Row], means: list[Row], what: str, up: str, colour: str) -> alt.LayerChart:
    """A strip of trials per weight, and over it a mean with its spread."""
    labels = [str(row["weight"]) for row in means]
    slant = -40 if sum(len(label) + 1 for label in labels) > ROOM else 0
    axis = alt.Axis(title=LAMBDA, labelAngle=slant, grid=False)
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


def steps_while_training(artefacts: Artefacts, model: str) -> Figure:
    """Mean steps of dev and training pairs by epoch, a line each per ponder weight."""
    rows: list[Row] = []
    ends: dict[str, str] = {}
    for epoch in steps_by_epoch(artefacts, model):
        name = setting(epoch.ponder_weight)
        place = {SERIES: name, "x": epoch.epoch, "epoch": str(epoch.epoch), "n": str(epoch.trials)}
        for part, mean, sd in (
            (DEV, epoch.dev_mean, epoch.dev_sd),
            (TRAINING, epoch.train_mean, epoch.train_sd),
        ):
            row: Row = {**place, PART: part, "y": rounded(mean)}
            row["value"] = f"{mean:.2f} {PLUS_MINUS} {sd:.2f} between pairs"
            if part == DEV:
                row |= {"low": rounded(mean - sd), "high": rounded(mean + sd)}
            rows.append(row)
        ends[name] = f"{epoch.dev_mean:.2f} (sd {epoch.dev_sd:.2f}) at {name}"
    names = list(ends)
    told = {SERIES: "ponder weight", "epoch": "epoch", PART: "of", "value": "steps", "n": "trials"}
    return figure(
        layered(*lines(rows, names, "epoch", "steps per pair", told, (DEV, TRAINING), LAMBDA)),
        f"{title(model)}, sweep: steps by epoch and ponder weight",
        f"bands: {PLUS_MINUS} 1 sd between dev pairs",
        f"Mean steps of {title(model)} by epoch and ponder weight, over the sweep's trials. Per "
        f"dev pair after the last epoch: {', '.join(ends.values())}.",
    )
