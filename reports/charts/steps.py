"""Steps that models take for the pairs of the test split: how many."""

import altair as alt

from reports.blocks import Figure
from reports.charts.look import BLUE, INK
from reports.charts.series import (
    Row,
    figure,
    layered,
    over,
    rounded,
    span,
    tooltips,
    whole_axis,
)
from reports.spread import Spread, title
from reports.stored.artefacts import Artefacts
from reports.tables.table_1 import mean_steps


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
