"""Steps against sentence length: which pairs take how many."""

import altair as alt
import pandas as pd

from reports.charts.figure import Figure
from reports.charts.look import BLUE, ORANGE
from reports.charts.series import (
    Row,
    counted,
    figure,
    inline,
    layered,
    rounded,
    span,
    tooltips,
    whole_axis,
)
from reports.spread import PLUS_MINUS, title
from reports.stored.artefacts import Artefacts
from reports.tables.correlations import correlations, joint_counts

TICKS = [1, 10, 100, 1_000, 10_000, 100_000]  # of a legend of pairs


def lengths(artefacts: Artefacts, model: str) -> Figure:
    """Joint distribution of steps and mean sentence length (thesis figure 6.5).

    Over it the mean steps at each length, with their sd between pairs.
    """
    counts = joint_counts(artefacts, model)
    cells: list[Row] = []
    for steps, row in counts.iterrows():
        for length, pairs in row.items():
            if pairs:
                cells.append(_cell(int(str(steps)), int(str(length)), int(pairs)))
    means = [
        _mean(int(str(length)), column) for length, column in counts.items() if column.sum() > 0
    ]
    runs = artefacts.lengths[artefacts.lengths["model"] == model]["seed"].nunique()
    seeds = counted(runs, "seed")
    most = max(cells, key=lambda cell: int(cell["count"]))
    taken = counted(int(most["steps"]), "step")
    tokens = span(map(int, counts.columns), "token")
    return figure(
        _joint(cells, means),
        f"{title(model)}: steps and sentence length",
        f"test pairs of {seeds}; line: mean {PLUS_MINUS} 1 sd",
        f"Test pairs of {title(model)} ({seeds}) that take {span(counts.index, 'step')}, with a "
        f"mean length of premise and hypothesis of {tokens}: most pairs, "
        f"{most['pairs']} of {int(counts.to_numpy().sum()):,}, take {taken} at {most['tokens']} "
        f"tokens{_follows(artefacts, model)}.",
        height=280,
    )


def _follows(artefacts: Artefacts, model: str) -> str:
    """How steps go with length."""
    found = [c for c in correlations(artefacts, model) if c.against == "mean_length"]
    if not found or found[0].pearson is None:
        return "; steps are the same for every pair"
    r = found[0].pearson
    return f"; Pearson's r of steps and length is {r.change()}"


def _cell(steps: int, length: int, pairs: int) -> Row:
    place = {"x": length, "right": length + 1, "y": steps - 0.5, "top": steps + 0.5}
    told = {"steps": str(steps), "tokens": f"{length} to {length + 1}", "pairs": f"{pairs:,}"}
    return {**place, "count": pairs, **told}


def _mean(length: int, column: "pd.Series[int]") -> Row:
    """Mean steps of the pairs of one length; the sd is that of all of them."""
    pairs = int(column.sum())
    steps = column.index.to_numpy()
    mean = float((column * steps).sum() / pairs)
    sd = float((column * (steps - mean) ** 2).sum() / pairs) ** 0.5
    row: Row = {"x": length + 0.5, "y": rounded(mean), "tokens": f"{length} to {length + 1}"}
    row |= {"low": rounded(mean - sd), "high": rounded(mean + sd), "pairs": f"{pairs:,}"}
    return row | {"mean": f"{mean:.2f} {PLUS_MINUS} {sd:.2f} between pairs"}


def _joint(cells: list[Row], means: list[Row]) -> alt.LayerChart:
    """Cells that are darker with more pairs, on a scale of powers."""
    most = max(2, *(int(cell["count"]) for cell in cells))
    x = alt.X(
        "x:Q",
        axis=whole_axis("mean sentence length (tokens)", [cell["x"] for cell in cells]),
        scale=alt.Scale(zero=False, nice=False),
    )
    y = alt.Y(
        "y:Q",
        axis=whole_axis("steps", [int(cell["steps"]) for cell in cells]),
        scale=alt.Scale(zero=False, nice=False),
    )
    told = {"tokens": "mean length, tokens", "steps": "steps", "pairs": "pairs"}
    legend = alt.Legend(
        title="pairs",
        values=[tick for tick in TICKS if tick <= most],
        direction="horizontal",
        symbolType="square",
        symbolFillColor=BLUE,
        symbolOpacity=alt.Undefined,
    )
    shade = alt.Opacity(
        "count:Q",
        scale=alt.Scale(type="log", domain=[1, most], range=[0.15, 0.95]),
        legend=legend,
    )
    cell = alt.Chart(inline(cells)).mark_rect(color=BLUE)
    joint = cell.encode(x=x, x2="right:Q", y=y, y2="top:Q", opacity=shade, tooltip=tooltips(told))
    base = alt.Chart(inline(means)).encode(x=x)
    bar = base.mark_rule(color=ORANGE).encode(y=alt.Y("low:Q"), y2="high:Q")
    line = base.mark_line(
        color=ORANGE, point=alt.OverlayMarkDef(color=ORANGE, size=36, filled=True)
    )
    told = {"tokens": "mean length, tokens", "mean": "steps", "pairs": "pairs"}
    return layered(joint, bar, line.encode(y=y, tooltip=tooltips(told)))
