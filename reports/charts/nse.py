"""Readers of cloze questions: accuracy by number of steps, by epoch, and of each step."""

from collections.abc import Callable, Iterator

import altair as alt

from reports.blocks import Chart, Figure
from reports.charts.lines import PART, lines, mean_row, spread_lines
from reports.charts.look import BLUE, COLOURS, INK, MUTED, ORANGE
from reports.charts.series import (
    SERIES,
    Row,
    colour,
    faded,
    figure,
    inline,
    layered,
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
from reports.stored.artefacts import Artefacts
from reports.studies.nse.published import ADAPTIVE, GATING, KINDS, STRATEGIES
from reports.studies.nse.runs import (
    FREQUENT,
    Run,
    baselines,
    nse_curve,
    nse_runs,
    nse_steps,
)

DEV, TRAINING = "dev", "training, with dropout"
COLOUR_OF = {GATING: BLUE, ADAPTIVE: ORANGE}
ASIDE = 0.1  # steps that points of the strategies stand beside each other
ACCURACY = "test accuracy, %"
DASHED, DOTTED = [7, 3], [2, 3]
Level = tuple[str, float, str, str]  # name, accuracy, the same in words, seeds
Curve = tuple[str, dict[int, Spread]]
TOLD = {SERIES: "strategy", "steps": "steps", "accuracy": ACCURACY}


def nse_charts(artefacts: Artefacts, kind: str) -> Iterator[Chart]:
    """The figures that a kind of questions allows: nse_WHAT_KIND."""
    runs, title = nse_runs(artefacts, kind), KINDS[kind].title
    if any(run.steps > 1 for run in runs):
        yield Chart(f"nse_accuracy_{kind}", by_steps(artefacts, kind, runs))
    dev, training = (
        [(run.name, nse_curve(artefacts, kind, run, part)) for run in runs]
        for part in ("dev", "train")
    )
    if any(curve for _, curve in dev):
        yield Chart(f"nse_curves_{kind}", by_epoch(kind, dev, training))

    def steps(figure: str, shown: Callable[[Run], bool]) -> list[Curve]:
        return [
            (run.name, nse_steps(artefacts, kind, run, figure) if shown(run) else {})
            for run in runs
        ]

    yield from spread_lines(
        f"nse_weights_{kind}",
        steps("weight", lambda run: run.strategy == ADAPTIVE),
        ("step", "weight in the answer (%)"),
        f"{title}: weight of each step",
        f"{title}: mean weight of each step in the answer to dev questions",
        percent=True,
    )
    yield from spread_lines(
        f"nse_alone_{kind}",
        steps("accuracy", lambda run: run.steps > 1),
        ("step", "accuracy of the step by itself (%)"),
        f"{title}: accuracy of each step's own answer",
        f"{title}: accuracy on dev of the answer that each step would give by itself",
        percent=True,
    )


def by_steps(artefacts: Artefacts, kind: str, runs: list[Run]) -> Figure:
    """Test accuracy by steps: seeds, means, and levels of one step and of counting words."""
    several = sorted((run for run in runs if run.steps > 1), key=lambda run: run.steps)
    strategies = [s for s in STRATEGIES if any(run.strategy == s for run in several)]
    ones = [run for run in runs if run.steps == 1]
    frequent = baselines(artefacts, kind)["test"].most_frequent
    levels = [(run.name, run.test.mean, run.test.percent(), str(run.test.n)) for run in ones]
    levels.append((FREQUENT, frequent, f"{100 * frequent:.1f}", ""))
    names = [STRATEGIES[s] for s in strategies] + [level[0] for level in levels]
    colours = [COLOUR_OF[s] for s in strategies] + [*[INK] * len(ones), MUTED]
    places = [run.steps for run in several]
    x = alt.X(
        "x:Q",
        axis=whole_axis("steps T", [min(places) - 1, max(places) + 1]),
        scale=alt.Scale(domain=[min(places) - 1, max(places) + 1], nice=False),
    )
    y = alt.Y("y:Q", title="test accuracy (%)", scale=alt.Scale(zero=False))
    coloured = colour(names, colours=colours)
    aside = {s: ASIDE * (2 * at + 1 - len(strategies)) for at, s in enumerate(strategies)}
    dots = alt.Chart(inline([row for run in several for row in _seeds(run, aside)]))
    dot = dots.mark_point(filled=True, size=28).encode(
        x=x, y=y, color=coloured, opacity=faded(0.45), tooltip=tooltips(TOLD)
    )
    base = alt.Chart(inline([_mean(run, aside) for run in several])).encode(x=x, color=coloured)
    line = base.mark_line(strokeWidth=1.2).encode(y=y, opacity=faded(0.7))
    bar = base.mark_rule(strokeWidth=1.6).encode(y=alt.Y("low:Q"), y2="high:Q", opacity=faded(1))
    mean = base.mark_point(filled=True, size=80).encode(
        y=y,
        opacity=faded(1),
        shape=shape(names, levels=[level[0] for level in levels]),
        tooltip=tooltips(TOLD | {"n": "seeds"}),
    )
    title = KINDS[kind].title
    each = [f"{run.test.percent()} % with {run.name}" for run in [*ones, *several]]
    spread = max((run.test for run in several), key=lambda found: found.n)
    said = f"{'dashes: one step; ' if ones else ''}dots: {FREQUENT}"
    return figure(
        layered(*_levels(levels, coloured), with_legend(line), bar, dot, mean),
        f"{title}: test accuracy by number of steps",
        f"small points: seeds; large: {over(spread)}; {said}",
        f"{title}: test accuracy by number of steps, {over(spread)}: {'; '.join(each)}; the "
        f"{FREQUENT} has {100 * frequent:.1f} %.",
    )


def _seeds(run: Run, aside: dict[str, float]) -> list[Row]:
    place: Row = {SERIES: STRATEGIES[run.strategy], "x": run.steps + aside[run.strategy]}
    return [
        place | {"steps": str(run.steps), "y": rounded(100 * a), "accuracy": f"{100 * a:.1f}"}
        for a in run.tests
    ]


def _mean(run: Run, aside: dict[str, float]) -> Row:
    at = run.steps + aside[run.strategy]
    row = mean_row(STRATEGIES[run.strategy], at, run.test, scale=100)
    row |= {"low": row.get("low", row["y"]), "high": row.get("high", row["y"])}
    return row | {"steps": str(run.steps), "accuracy": run.test.percent()}


def _levels(found: list[Level], coloured: alt.Color) -> list[alt.Chart]:
    """Lines over the whole width, each with dashes of its own."""
    levels: list[alt.Chart] = []
    for name, accuracy, said, seeds in found:
        dash = DOTTED if name == FREQUENT else DASHED
        row = {SERIES: name, "y": rounded(100 * accuracy), "accuracy": said, "n": seeds}
        rule = alt.Chart(inline([row])).mark_rule(strokeDash=dash, strokeWidth=1.8)
        told = {SERIES: "level", "accuracy": ACCURACY} | ({"n": "seeds"} if seeds else {})
        encoded: alt.Chart = rule.encode(
            y=alt.Y("y:Q"), color=coloured, opacity=faded(1), tooltip=tooltips(told)
        )
        levels.append(encoded)
    return levels


def by_epoch(kind: str, dev: list[Curve], training: list[Curve]) -> Figure:
    """Accuracy in training and on dev while a run trains; a line of each for each run."""
    rows: list[Row] = []
    said = []
    for (name, curve), (_, fitted) in zip(dev, training, strict=True):
        for part, of in ((DEV, curve), (TRAINING, fitted)):
            for epoch, spread in of.items():
                row = mean_row(name, epoch, spread, scale=100) | {PART: part, "epoch": str(epoch)}
                rows.append(row | {"accuracy": f"{spread.percent()} %"})
        if curve:
            best, last = max(curve, key=lambda epoch: curve[epoch].mean), max(curve)
            said.append(
                f"{name}, {curve[best].percent()} % on dev at best, at epoch {best}, and "
                f"{fitted[last].percent()} % in training at epoch {last}"
            )
    names = [name for name, curve in dev if curve]
    of_all = zip(dev, repeated(COLOURS, len(dev)), strict=True)
    colours = [colour for (name, _), colour in of_all if name in names]
    told = {
        SERIES: "run",
        PART: "questions",
        "epoch": "epoch",
        "accuracy": "accuracy",
        "n": "seeds",
    }
    drawn = lines(
        rows, names, "epoch", "accuracy (%)", told, parts=(DEV, TRAINING), colours=colours
    )
    title = KINDS[kind].title
    most = max((spread for _, curve in dev for spread in curve.values()), key=lambda s: s.n)
    return figure(
        layered(*drawn),
        f"{title}: accuracy by epoch",
        over(most),
        f"{title}: accuracy by epoch, {counted(len(names), 'run')} ({over(most)}): "
        f"{'; '.join(said)}.",
    )
