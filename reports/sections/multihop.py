"""Multi-hop inference: accuracy and steps of each run by number of hops."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from actmodels.registry import MODELS
from reports.blocks import Chart, Section, Table
from reports.charts import marks
from reports.charts.theme import MUTED
from reports.format import DASH, Cell, Row, count, number, percent, signed, title
from reports.load import Artifacts, adapts
from reports.statistics import mean_sd, wide

RUN = ["model", "run"]
CHANCE = 100 / 3  # labels are equally frequent


def run_name(model: str, run: str, alone: bool) -> str:
    """Name a run by mechanism and settings, and by its architecture if there are several."""
    name, halting = title(model), MODELS[model].halting if model in MODELS else None
    if halting is not None and not name.endswith(halting.title):
        name = f"{name}, {halting.title}"
    if alone:
        name = name.partition(", ")[2] or name
    return name if run == "as set" else f"{name}, {run}"


def by_hops(data: Artifacts) -> pd.DataFrame:
    """Return accuracy and mean steps over seeds by run and hops, each run with its `series`."""
    hops = data["multihop/hops"]
    alone = len({title(model).partition(", ")[0] for model in hops["model"]}) == 1
    frame = mean_sd(hops, [*RUN, "hops", "trained"], ["accuracy", "mean_steps"])
    names = [run_name(m, r, alone) for m, r in zip(frame["model"], frame["run"], strict=True)]
    return frame.assign(series=names)


def correlations(data: Artifacts) -> pd.DataFrame:
    """Return mean, least and greatest correlation of steps and hops over the seeds of each run."""
    found = data["multihop/results"].groupby(RUN, sort=False)["correlation"]
    return found.agg(seeds="size", r="mean", r_min="min", r_max="max").reset_index()


def over_depths(data: Artifacts) -> pd.DataFrame:
    """Return steps and accuracy over the pairs of trained and of untrained depths."""
    hops = data["multihop/hops"]
    parts = []
    for column, trained in (("mean_steps", True), ("accuracy", True), ("accuracy", False)):
        rows = hops[hops["trained"] == trained]
        weighed = rows.assign(total=rows[column] * rows["pairs"])
        sums = weighed.groupby([*RUN, "seed"], sort=False)[["total", "pairs"]].sum(min_count=1)
        name = f"{'trained' if trained else 'untrained'}_{column}"
        parts.append((sums["total"] / sums["pairs"]).rename(name))
    frame = pd.concat(parts, axis=1).reset_index()
    return mean_sd(frame, RUN, [part.name for part in parts])


def multihop_charts(data: Artifacts) -> list[Chart]:
    """Return the panels of accuracy and of steps by hops; none where the study was not run."""
    frame = by_hops(data)
    if frame.empty:
        return []
    accuracy = marks.with_band(frame, "accuracy", 100)
    drawn = [_panel(accuracy, "accuracy", "test accuracy (%)", [CHANCE, CHANCE], "Dashed: chance.")]
    if frame["mean_steps_mean"].notna().any():
        steps = marks.with_band(frame.dropna(subset=["mean_steps_mean"]), "mean_steps")
        ends = [frame["hops"].min(), frame["hops"].max()]
        drawn.append(_panel(steps, "steps", "mean steps", ends, "Dashed: steps = hops."))
    return drawn


def _panel(
    frame: pd.DataFrame, what: str, up: str, reference: Sequence[float], caption: str
) -> Chart:
    """Draw a line per run, a dashed reference, and a shade over depths that are not trained."""
    frame = frame.assign(x=frame["hops"])
    ends = pd.DataFrame({"x": [frame["x"].min(), frame["x"].max()], "y": reference})
    dashed = marks.data(ends).mark_line(color=MUTED, strokeDash=[5, 3]).encode(x="x:Q", y="y:Q")
    layers = [*_untrained(frame), dashed, *marks.lines(frame, "hops", up)]
    heading = f"{up.partition(' (')[0].capitalize()} by number of hops"
    return marks.chart(f"multihop_{what}", heading, layers, caption=caption, half=True)


def _untrained(frame: pd.DataFrame) -> list[alt.Chart]:
    last, deepest = frame.loc[frame["trained"], "x"].max(), frame["x"].max()
    if deepest <= last:
        return []
    ends = pd.DataFrame({"left": [last + 0.5], "right": [deepest + 0.3], "name": "not trained"})
    base = marks.data(ends)
    shade = base.mark_rect(color=MUTED, opacity=0.1).encode(x="left:Q", x2="right:Q")
    text = base.mark_text(align="right", baseline="bottom", color=MUTED)
    return [shade, text.encode(x="right:Q", y=alt.value(-2), text="name:N")]


def multihop_section(data: Artifacts) -> Section | None:
    """Return two tables, and the trade-off where several mechanisms choose their steps."""
    frame = by_hops(data)
    if frame.empty:
        return None
    hops = sorted(frame["hops"].unique())
    trained = set(frame.loc[frame["trained"], "hops"])
    spread = wide(frame, [*RUN, "series"], "hops", sort=False)
    spread = spread.merge(correlations(data), on=RUN).merge(over_depths(data), on=RUN)
    name: dict[str, Cell] = {"run": lambda row: str(row["series"]), "seeds": count("seeds")}
    ends = {at: f"{at}{'' if at in trained else ' (not trained)'}" for at in hops}
    accuracy = {f"hops {ends[at]}, %": percent(f"accuracy_{at}") for at in hops}
    steps = {f"hops {ends[at]}": number(f"mean_steps_{at}") for at in hops}
    stepping = spread[spread["trained_mean_steps_mean"].notna()]
    tables = [Table("multihop", spread, name | accuracy, "Test accuracy by number of hops.")]
    if not stepping.empty:
        columns = name | steps | {"r of steps and hops (min to max over seeds)": _r}
        said = "Mean steps by number of hops; r is Pearson's over trained depths and the next one."
        tables.append(Table("multihop_steps", stepping, columns, said))
    return Section(
        "Multi-hop inference",
        [*tables, *_trade_off(spread)],
        "A premise states where things are, and the hypothesis follows only through a chain of "
        "facts; each fact is a hop. Pairs deeper than the trained ones test whether steps go on.",
    )


def _r(row: Row) -> str:
    if pd.isna(row["r"]):
        return DASH
    return f"{signed(row['r'])} ({signed(row['r_min'])} to {signed(row['r_max'])})"


def _trade_off(runs: pd.DataFrame) -> list[Chart]:
    """Draw steps on trained depths against accuracy beyond them, a series per mechanism."""
    stepping = runs.dropna(subset=["trained_mean_steps_mean", "untrained_accuracy_mean"])
    if len({model for model in stepping["model"] if adapts(model)}) < 2:
        return []
    names = [halting.title for model in stepping["model"] if (halting := MODELS[model].halting)]
    columns = ("trained_mean_steps", "untrained_accuracy")
    frame = marks.with_bands(stepping, *columns, series=names)
    across, up = "mean steps on trained depths", "accuracy on untrained depths (%)"
    drawn = marks.scatter(frame, across, up, tips=["run:N"])
    heading = "Steps against accuracy beyond the trained depths"
    return [marks.chart("multihop_trade_off", heading, drawn, height=300)]
