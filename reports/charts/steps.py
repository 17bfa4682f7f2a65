"""Steps that models take for the pairs of the test split: how many, how often right, by length."""

import altair as alt
import pandas as pd

from reports.blocks import Figure
from reports.charts.look import BLUE, INK, ORANGE
from reports.charts.series import (
    Row,
    figure,
    inline,
    layered,
    over,
    rounded,
    span,
    tooltips,
    whole_axis,
)
from reports.findings import counted
from reports.spread import PLUS_MINUS, Spread, title
from reports.stored.artefacts import Artefacts
from reports.tables.length_and_depth import correlations, joint_counts
from reports.tables.table_1 import mean_steps

TICKS = [1, 10, 100, 1_000, 10_000, 100_000]  # of a legend of pairs


def shares(artefacts: Artefacts, model: str) -> dict[int, tuple[Spread, int]]:
    """Steps -> share of a seed's test pairs over the seeds, in [0, 1], and pairs of all seeds."""
    rows = artefacts.lengths[artefacts.lengths["model"] == model]
    steps = rows["steps"].astype(int)
    found = {}
    for at in range(min(steps), max(steps) + 1):
        pairs = rows["pairs"].where(steps == at, 0).groupby(rows["seed"]).sum()
        share = Spread.of(pairs / rows["pairs"].groupby(rows["seed"]).sum())
        found[at] = share, int(pairs.sum())
    return found


def steps_taken(artefacts: Artefacts, model: str) -> Figure:
    """The share of test pairs by number of steps, with its sd over seeds."""
    found = shares(artefacts, model)
    rows: list[Row] = []
    for steps, (share, pairs) in found.items():
        row: Row = {
            "left": steps - 0.45,
            "right": steps + 0.45,
            "zero": 0,
            "x": steps,
            "steps": str(steps),
        }
        row |= {"y": rounded(100 * share.mean), "share": f"{share.percent()} %"}
        row |= {"pairs": f"{pairs:,}", "n": str(share.n)}
        if share.sd is not None:
            row["least"] = rounded(100 * max(0.0, share.mean - share.sd))
            row["most"] = rounded(100 * (share.mean + share.sd))
        rows.append(row)
    what = over(next(iter(found.values()))[0])
    most = max(found, key=lambda steps: found[steps][0].mean)
    taken = mean_steps(artefacts, model)
    mean = "" if taken is None else f"; mean {taken.plain()} steps"
    return figure(
        _bars(rows),
        f"{title(model)}: steps per test pair",
        f"{what}{mean}",
        f"Share of test pairs by number of steps of {title(model)} ({what}): "
        f"{span(found, 'step')}, most often {most} ({found[most][0].percent()} %){mean}.",
        height=220,
    )


def _bars(rows: list[Row]) -> alt.LayerChart:
    told = {"steps": "steps", "share": "share of pairs", "pairs": "pairs of all seeds"}
    x = alt.X(
        "left:Q",
        axis=whole_axis("steps", [row["x"] for row in rows]),
        scale=alt.Scale(zero=False, nice=False),
    )
    base = alt.Chart()
    pointed = alt.selection_point(name="pointed", on="pointerover", clear="pointerout", empty=False)
    bar = base.mark_rect(color=BLUE).encode(
        x=x,
        x2="right:Q",
        y=alt.Y("y:Q", title="share of test pairs (%)"),
        y2="zero:Q",
        opacity=alt.when(pointed).then(alt.value(1)).otherwise(alt.value(0.75)),
        tooltip=tooltips({**told, "n": "seeds"}),
    )
    layers = [bar.properties(name="bars").add_params(pointed)]
    if any("least" in row for row in rows):
        rule = base.mark_rule(color=INK, strokeWidth=1.5)
        layers.append(rule.encode(x="x:Q", y=alt.Y("least:Q"), y2="most:Q"))
    return layered(*layers, rows=rows)


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
