"""Accuracy of the retrained models: by steps fixed after training, by steps taken."""

from collections.abc import Iterator, Sequence

import altair as alt

from reports.blocks import Chart, Figure
from reports.charts.lines import lines, mean_row, spread_lines
from reports.charts.look import BLUE, MUTED, ORANGE
from reports.charts.series import (
    SERIES,
    Row,
    faded,
    figure,
    layered,
    over,
    rounded,
    tooltips,
)
from reports.published import PAPER_BY_STEPS, PAPER_MEAN_STEPS, Corpus
from reports.spread import Spread, title
from reports.stored.artefacts import Artefacts
from reports.tables.ablation import FIXED, Point, points
from reports.tables.step_habits import fifths

ADAPTIVE, PAPER = "adaptive halting", "paper, SNLI test"
COLOUR_OF = {"state": BLUE, "capped": ORANGE}
TOLD = {
    SERIES: "steps",
    "k": "k",
    "accuracy": "dev accuracy, %",
    "steps": "mean steps",
    "n": "seeds",
}


def by_fixed_steps(artefacts: Artefacts, published: bool) -> Figure:
    """Dev accuracy by number of steps in both readings, beside adaptive halting.

    The paper's test figures stand beside it on the corpus that they are for.
    """
    found = points(artefacts.ablation_dev)
    fixed, adaptive = [p for p in found if p.steps is not None], found[-1]
    rows = [_row(p) for p in fixed]
    names = [FIXED[reading].label for reading in FIXED] + [ADAPTIVE]
    colours = [COLOUR_OF[reading] for reading in FIXED] + [MUTED]
    if published and Corpus.of(artefacts).comparable:
        rows += _published()
        names, colours = [*names, PAPER], [*colours, "#009e73"]
    axes = "inference steps k", "dev accuracy (%)"
    drawn = lines(rows, names, *axes, TOLD, colours=colours, levels=[ADAPTIVE])
    ablated = title(artefacts.ablated or "")
    return figure(
        layered(*_level(adaptive), *drawn),
        f"{ablated}, steps fixed after training",
        over(adaptive.accuracy),
        f"Dev accuracy of {ablated} by number of inference steps k from "
        f"{min(p.steps or 0 for p in fixed)} to {max(p.steps or 0 for p in fixed)} "
        f"({over(adaptive.accuracy)}): {_highest(fixed)}; adaptive halting "
        f"{adaptive.accuracy.percent()} % at {adaptive.mean_steps.plain()} steps.",
    )


def _row(p: Point) -> Row:
    row = mean_row(FIXED[p.reading].label, p.steps or 0, p.accuracy, scale=100)
    accuracy, steps = p.accuracy.percent(), p.mean_steps.plain()
    return row | {"k": str(p.steps), "accuracy": accuracy, "steps": steps}


def _level(adaptive: Point) -> list[alt.Chart]:
    """The adaptive mean over the whole width, and its band."""
    mean, sd = 100 * adaptive.accuracy.mean, 100 * (adaptive.accuracy.sd or 0.0)
    row = {SERIES: ADAPTIVE, "k": "chosen for each pair", "n": str(adaptive.accuracy.n)}
    row |= {"accuracy": adaptive.accuracy.percent(), "steps": adaptive.mean_steps.plain()}
    ends = {"y": rounded(mean), "low": rounded(mean - sd), "high": rounded(mean + sd)}
    base = alt.Chart(alt.InlineData(values=[row | ends]))
    band = base.mark_rect(color=MUTED).encode(y=alt.Y("low:Q"), y2="high:Q", opacity=faded(0.14))
    line = base.mark_rule(color=MUTED, strokeDash=[5, 3], strokeWidth=1.8)
    level = line.encode(y=alt.Y("y:Q"), opacity=faded(1), tooltip=tooltips(TOLD))
    return [band, level] if sd > 0 else [level]


def _published() -> list[Row]:
    """The paper's figures, the adaptive one at its mean number of steps."""
    rows = []
    for steps, accuracy in PAPER_BY_STEPS.items():
        at = float(PAPER_MEAN_STEPS) if steps is None else steps
        k = f"adaptive, {PAPER_MEAN_STEPS} on average" if steps is None else str(steps)
        shown = {"k": k, "accuracy": f"{accuracy:.1f} (test)", "steps": k, "n": "1"}
        rows.append({SERIES: PAPER, "x": at, "y": accuracy, **shown})
    return sorted(rows, key=lambda row: float(row["x"]))


def _highest(fixed: list[Point]) -> str:
    """The best k of each reading; the smallest of equals."""
    said = []
    for reading, named in FIXED.items():
        line = [p for p in fixed if p.reading == reading]
        if line:
            best = max(line, key=lambda p: (p.accuracy.mean, -(p.steps or 0)))
            said.append(f"{named.label}, highest {best.accuracy.percent()} % at k = {best.steps}")
    return "; ".join(said)


def by_steps(artefacts: Artefacts, models: Sequence[str]) -> Iterator[Chart]:
    """Accuracy by fifths of the pairs, from the fewest steps to the most, a line per model."""

    def parts(model: str) -> Iterator[Spread]:
        return (Spread.of(part["right"]) for part in fifths(artefacts, model).values())

    return spread_lines(
        "step_accuracy",
        [(title(model), dict(enumerate(parts(model), 1))) for model in models],
        ("fifth of the pairs, fewest steps first", "test accuracy (%)"),
        "Test accuracy by number of steps",
        "Test accuracy by fifths of the pairs, from the fewest steps to the most",
        percent=True,
        of="model",
    )
