"""Graves' tasks (2016, figures 4 to 19): errors by ponder weight, difficulty, epoch; and steps."""

from collections.abc import Callable, Iterator

import altair as alt

from reports.blocks import Chart, Figure
from reports.charts.lines import Line, mean_row, spread_lines
from reports.charts.look import BLUE, INK, MUTED
from reports.charts.series import Row, figure, inline, layered, rounded, tooltips
from reports.charts.studies import Placed, by_steps
from reports.spread import KINDS, PLUS_MINUS, Spread, setting
from reports.stored.artefacts import Artefacts
from reports.studies.graves.runs import (
    Run,
    best_run,
    by_difficulty,
    graves_curve,
    graves_runs,
)
from reports.studies.graves.tasks import ACT, NONE, TASKS

ROOM = 1.5  # factor of a ponder weight that is left free on either side
ERROR = "sequence error, %"
DASHES = "dashes: without ACT".replace(" ", "\N{NO-BREAK SPACE}")  # else too wide a line on a phone


def graves_charts(artefacts: Artefacts, task: str) -> Iterator[Chart]:
    """The figures that a task allows: graves_KIND_TASK."""
    runs = graves_runs(artefacts, task)
    if weighed(runs):
        yield Chart(f"graves_error_{task}", by_weight(task, runs))
    known = TASKS[task]
    if len({run.halting for run in runs} - {NONE}) > 1:
        heading = f"{known.title}, ways of halting"
        placed = [_placed(run) for run in runs]
        way = by_steps(placed, heading, "sequence error", "input", highest=False)
        yield Chart(f"graves_halting_{task}", way)

    def lines(curve: Callable[[Run], dict[int, Spread]]) -> list[Line]:
        return [(run.label, curve(run)) for run in runs]

    yield from spread_lines(
        f"graves_difficulty_{task}",
        lines(lambda run: by_difficulty(artefacts, task, run, "error")),
        (known.difficulty, f"{known.counted_in} in error (%)"),
        f"{known.title}: error by difficulty",
        f"{known.title}: share of {known.counted_in} in error on dev by {known.difficulty}",
        percent=True,
    )
    yield from spread_lines(
        f"graves_ponder_{task}",
        lines(lambda run: by_difficulty(artefacts, task, run, "mean_steps")),
        (known.difficulty, "mean steps per input"),
        f"{known.title}: steps by difficulty",
        f"{known.title}: mean steps per input on dev by {known.difficulty}",
    )
    yield from spread_lines(
        f"graves_curves_{task}",
        lines(lambda run: graves_curve(artefacts, task, run)),
        ("epoch", "sequence error (%)"),
        f"{known.title}: sequence error by epoch",
        f"{known.title}: sequence error on dev by epoch",
        percent=True,
    )


def _placed(run: Run) -> Placed:
    """A network without halting takes one step on each input."""
    steps = run.steps or Spread.of([1.0] * run.error.n)
    return Placed(KINDS.get(run.halting, run.label), run.label, run.label, steps, run.error)


def weighed(runs: list[Run]) -> list[Run]:
    """The runs of ACT that a log axis has a place for, smallest ponder weight first."""
    found = [run for run in runs if run.halting == ACT and (run.ponder_weight or 0.0) > 0]
    return sorted(found, key=lambda run: run.ponder_weight or 0.0)


def by_weight(task: str, runs: list[Run]) -> Figure:
    """Sequence error by ponder weight: seeds, their means, and a level without ACT."""
    act, without = weighed(runs), best_run(runs, NONE)
    weights = [run.ponder_weight or 0.0 for run in act]
    axis = alt.Axis(title="ponder weight", values=weights, format="~f", grid=False)
    room = alt.Scale(type="log", domain=[weights[0] / ROOM, weights[-1] * ROOM], nice=False)
    x = alt.X("x:Q", axis=axis, scale=room)
    y = alt.Y("y:Q", title="sequence error (%)", scale=alt.Scale(zero=False))
    told = {"weight": "ponder weight", "error": ERROR}
    dots = alt.Chart(inline([row for run in act for row in _seeds(run)]))
    dot = dots.mark_point(filled=True, color=BLUE, opacity=0.45, size=32).encode(
        x=x, y=y, tooltip=tooltips({**told, "seed": "seed"})
    )
    base = alt.Chart(inline([_mean(run) for run in act])).encode(x=x)
    line = base.mark_line(color=INK, strokeWidth=1, opacity=0.6).encode(y=y)
    bar = base.mark_rule(color=INK, strokeWidth=1.5).encode(y=alt.Y("low:Q"), y2="high:Q")
    point = base.mark_point(filled=True, color=INK, shape="diamond", size=70)
    mean = point.encode(y=y, tooltip=tooltips({**told, "n": "seeds"}))
    level = [] if without is None else [_level(without)]
    title = TASKS[task].title
    each = [f"{run.error.percent()} % at {_weight(run)}" for run in act]
    beside = "" if without is None else f"; {without.label}: {without.error.percent()} %"
    below = f"points: seeds; diamonds: mean {PLUS_MINUS} 1 sd"
    return figure(
        layered(*level, dot, line, bar, mean),
        f"{title}: sequence error by ponder weight",
        below if without is None else f"{below}; {DASHES}",
        f"{title}: sequence error on dev by ponder weight of ACT, mean {PLUS_MINUS} sd "
        f"over seeds: {', '.join(each)}{beside}.",
    )


def _weight(run: Run) -> str:
    return setting(str(run.ponder_weight))


def _seeds(run: Run) -> list[Row]:
    place: Row = {"x": run.ponder_weight, "weight": _weight(run)}
    return [
        place | {"y": rounded(100 * error), "error": f"{100 * error:.1f}", "seed": str(seed)}
        for seed, error in run.errors.items()
    ]


def _mean(run: Run) -> Row:
    row = mean_row(run.label, run.ponder_weight or 0.0, run.error, scale=100)
    row |= {"low": row.get("low", row["y"]), "high": row.get("high", row["y"])}
    return row | {"weight": _weight(run), "error": run.error.percent()}


def _level(run: Run) -> alt.Chart:
    row = {"y": rounded(100 * run.error.mean), "run": run.label, "error": run.error.percent()}
    base = alt.Chart(inline([row | {"n": str(run.error.n)}]))
    rule = base.mark_rule(color=MUTED, strokeDash=[5, 3], strokeWidth=1.8)
    told = {"run": "run", "error": ERROR, "n": "seeds"}
    level: alt.Chart = rule.encode(y=alt.Y("y:Q"), tooltip=tooltips(told))
    return level
