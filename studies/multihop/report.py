"""Multi-hop inference: accuracy and steps of each run by number of hops, and by exit rule."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from actmodels.registry import MODELS, is_adaptive
from reports import format as fmt
from reports import marks
from reports.blocks import Chart, Highlights, Section, StudyReport, Table, Tile
from reports.load import Artifacts
from reports.marks import MUTED
from reports.statistics import mean_sd, wide
from studies.multihop.differences import difference_table
from studies.multihop.tables import COLUMNS

RUN = ["model", "run"]
HALTED = "as halted"  # by the model's own mechanism
# The charts draw these models; without any, all runs.
DRAWN = (
    *("hop_attention_dact", "hop_attention_fixed_point_exit", "hop_attention_confidence_exit"),
    *("hop_attention_step_act", "hop_attention", "decomposable_attention"),
)
CHANCE = 100 / 3  # labels are balanced
SOLVED = 0.95  # minimum accuracy of a solved number of hops
HOP = "one fact in the chain from the object in the hypothesis to its location."


def run_name(model: str, run: str, one_network: bool) -> str:
    """Name a run by mechanism and settings, and by its network if there are several."""
    name, halting = fmt.title(model), MODELS[model].halting if model in MODELS else None
    if halting is not None and not name.endswith(halting.title):
        name = f"{name}, {halting.title}"
    if one_network:
        name = name.partition(", ")[2] or name
    return name if run == "as set" else f"{name}, {run}"


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the column `series`, which names the run."""
    one_network = len({fmt.title(model).partition(", ")[0] for model in frame["model"]}) == 1
    pairs = zip(frame["model"], frame["run"], strict=True)
    return frame.assign(series=[run_name(model, run, one_network) for model, run in pairs])


def by_hops(rows: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and mean steps over seeds by run and hops; `series` names the run."""
    return named(mean_sd(rows, [*RUN, "hops", "trained"], ["accuracy", "mean_steps"]))


def drawn(data: Artifacts) -> pd.DataFrame:
    """Return the rows by hops of the runs in the charts."""
    hops = data["multihop/hops"]
    chosen = hops[hops["model"].isin(DRAWN) & (hops["run"] == "as set")]
    if chosen.empty:
        return by_hops(hops)
    order = {model: number for number, model in enumerate(DRAWN)}
    frame = by_hops(chosen.sort_values("model", key=lambda name: name.map(order), kind="stable"))
    names = frame["series"].str.removeprefix("Hop Attention, ")  # the legend has few characters
    return frame.assign(series=names)


def correlations(data: Artifacts) -> pd.DataFrame:
    """Return mean, minimum and maximum of r(steps, hops) over the seeds of each run."""
    r = data["multihop/results"].groupby(RUN, sort=False)["correlation"]
    return r.agg(seeds="size", r="mean", r_min="min", r_max="max").reset_index()


def over_depths(data: Artifacts) -> pd.DataFrame:
    """Return steps and accuracy over all pairs of trained and of untrained depths."""
    hops = data["multihop/hops"]
    parts = []
    for column, trained in (("mean_steps", True), ("accuracy", True), ("accuracy", False)):
        rows = hops[hops["trained"] == trained]
        weighted = rows.assign(total=rows[column] * rows["pairs"])
        sums = weighted.groupby([*RUN, "seed"], sort=False)[["total", "pairs"]].sum(min_count=1)
        name = f"{'trained' if trained else 'untrained'}_{column}"
        parts.append((sums["total"] / sums["pairs"]).rename(name))
    frame = pd.concat(parts, axis=1).reset_index()
    return mean_sd(frame, RUN, [part.name for part in parts])


def multihop_charts(data: Artifacts) -> list[Chart]:
    """Return charts of accuracy and steps by hops."""
    frame = drawn(data)
    frame = frame.assign(x=frame["hops"])
    accuracy = marks.with_band(frame, "accuracy", 100)
    charts = [_panel(accuracy, "accuracy", "test accuracy (%)", [CHANCE, CHANCE], "chance")]
    steps = marks.with_band(frame.dropna(subset=["mean_steps_mean"]), "mean_steps")
    if not steps.empty:
        ends = [frame["hops"].min(), frame["hops"].max()]
        charts.append(_panel(steps, "steps", "mean steps", ends, "steps = hops"))
    return charts


def _panel(
    frame: pd.DataFrame, name: str, y_title: str, reference: Sequence[float], caption: str
) -> Chart:
    """Draw a line per run, a dashed reference line, and untrained depths shaded."""
    ends = pd.DataFrame({"x": [frame["x"].min(), frame["x"].max()], "y": reference})
    dashed = marks.data(ends).mark_line(color=MUTED, strokeDash=[5, 3]).encode(x="x:Q", y="y:Q")
    layers = [*_untrained(frame), dashed, *marks.lines(frame, "hops", y_title)]
    title = f"{y_title.partition(' (')[0].capitalize()} by number of hops"
    return marks.chart(f"multihop_{name}", title, layers, caption=f"Dashed: {caption}.", half=True)


def _untrained(frame: pd.DataFrame) -> list[alt.Chart]:
    last, deepest = frame.loc[frame["trained"], "x"].max(), frame["x"].max()
    if deepest <= last:
        return []
    ends = pd.DataFrame({"left": [last + 0.5], "right": [deepest + 0.3], "name": "not trained"})
    base = marks.data(ends)
    shade = base.mark_rect(color=MUTED, opacity=0.1).encode(x="left:Q", x2="right:Q")
    text = base.mark_text(align="right", baseline="bottom", color=MUTED)
    return [shade, text.encode(x="right:Q", y=alt.value(-2), text="name:N")]


def section(data: Artifacts, _claims: pd.DataFrame) -> Section:
    """Return the tables, and charts of states and of the trade-off of several mechanisms."""
    frame = by_hops(data["multihop/hops"])
    hops = frame.groupby("hops")["trained"].any()
    runs = wide(frame, [*RUN, "series"], "hops", sort=False)
    runs = runs.merge(correlations(data), on=RUN).merge(over_depths(data), on=RUN)
    names = runs[[*RUN, "series"]]
    columns: dict[str, fmt.Cell] = {"run": fmt.text("series"), "seeds": fmt.count("seeds")}
    heads = {n: f"hops {n}{'' if trained else ' (not trained)'}" for n, trained in hops.items()}
    accuracy = {f"{head}, %": fmt.percent(f"accuracy_{n}") for n, head in heads.items()}
    steps = {head: fmt.number(f"mean_steps_{n}") for n, head in heads.items()}
    with_steps = runs.dropna(subset=["trained_mean_steps_mean"])
    tables = [Table("multihop", runs, columns | accuracy, "Test accuracy by number of hops.")]
    if not (longest := by_hops(data["multihop/longest"])).empty:
        rows = names.merge(wide(longest, RUN, "hops", sort=False), on=RUN)
        caption = "Test accuracy in premises of the deepest pairs' length at every depth."
        tables.append(Table("multihop_longest", rows, columns | accuracy, caption))
    if not with_steps.empty:
        columns |= steps
        columns["r(steps, hops) [min, max over seeds]"] = lambda row: fmt.with_range(
            row["r"], row["r_min"], row["r_max"]
        )
        caption = "Mean steps by number of hops; r is Pearson's, over all tested depths."
        tables.append(Table("multihop_steps", with_steps, columns, caption))
        tables.append(exit_table(data, names))
    more = [difference_table(data["multihop/hops"], data["multihop/exits"], names)]
    more.append(loss_table(data, names))
    return Section(
        "Multi-hop inference",
        [
            *tables,
            *(table for table in more if table is not None),
            *states_chart(data, names),
            *_trade_off(with_steps),
        ],
        "The hypothesis follows from the premise only through a chain of facts; each fact is a "
        "hop. Pairs with more hops than in training test whether the model extrapolates.",
    )


def _trade_off(runs: pd.DataFrame) -> list[Chart]:
    """Draw steps on trained depths against accuracy on untrained ones, by mechanism."""
    runs = runs.dropna(subset=["untrained_accuracy_mean"])
    if len({model for model in runs["model"] if is_adaptive(model)}) < 2:
        return []
    names = [halting.title for model in runs["model"] if (halting := MODELS[model].halting)]
    x = ("trained_mean_steps", "mean steps on trained depths")
    y = ("untrained_accuracy", "accuracy on untrained depths (%)")
    layers = marks.scatter(runs.assign(series=names), x, y, tips=["run:N"])
    title = "Accuracy on untrained depths against steps"
    return [marks.chart("multihop_trade_off", title, layers, height=300)]


def hops_solved(data: Artifacts) -> dict[Any, int]:
    """Return the most hops up to which each adaptive run solves every tested depth."""
    frame = by_hops(data["multihop/hops"])
    frame = frame[[is_adaptive(str(model)) for model in frame["model"]]]
    solved = frame["accuracy_mean"].ge(SOLVED).groupby([frame[name] for name in RUN], sort=False)
    hops = frame["hops"].where(solved.cummin(), 0)
    return hops.groupby([frame[name] for name in RUN], sort=False).max().to_dict()


def highlights(data: Artifacts) -> Highlights:
    """Return the charts, and a tile and a metric of the adaptive run that solves the most hops."""
    tiles, metrics = list[Tile](), dict[str, float]()
    if hops := hops_solved(data):
        frame, most = data["multihop/hops"], max(hops.values())
        trained = frame.loc[frame["trained"], "hops"].max()
        r = correlations(data).set_index(RUN).loc[max(hops, key=hops.__getitem__), "r"]
        note = "" if pd.isna(r) else f", r(steps, hops) = {r:.2f}"
        tiles = [Tile("Hops solved", f"{most}", f"trained on up to {trained}{note}")]
        metrics = {"hops_solved": most}
    return Highlights(tiles, multihop_charts(data), {"Hop": HOP}, metrics)


def by_exit(data: Artifacts) -> pd.DataFrame:
    """Return accuracy, steps and multiply-adds of a pair by run, exit, seed and hops."""
    halted = data["multihop/hops"].assign(exit=HALTED)
    rows = pd.concat([halted, data["multihop/exits"]], ignore_index=True)
    rows = rows.merge(data["multihop/costs"], on=[*RUN, "seed", "hops"])
    steps = rows["step"] * rows["mean_steps"].fillna(0)
    return rows.assign(multiply_adds=rows["encoding"] + steps)


def exit_table(data: Artifacts, names: pd.DataFrame) -> Table:
    """Return a row for each run and exit rule; names: `series` by run."""
    rows = by_exit(data)
    keys = [*RUN, "exit"]
    deepest = rows["hops"].max()
    values = mean_sd(rows, [*keys, "hops"], ["accuracy", "mean_steps", "multiply_adds"])
    frame = names.merge(wide(values, keys, "hops", sort=False), on=RUN)
    halted = data["multihop/results"].assign(exit=HALTED)
    r = pd.concat([halted, data["multihop/correlations"]]).groupby(keys, sort=False)["correlation"]
    frame = frame.merge(r.agg(r="mean", r_min="min", r_max="max").reset_index(), on=keys)
    frame = frame.dropna(subset=[f"mean_steps_{deepest}_mean"])
    columns: dict[str, fmt.Cell] = {"run": fmt.text("series"), "exit": fmt.text("exit")}
    columns |= {f"hops {n}, %": fmt.percent(f"accuracy_{n}") for n in sorted(rows["hops"].unique())}
    columns[f"steps at {deepest}"] = fmt.number(f"mean_steps_{deepest}")
    columns["r(steps, hops) [min, max over seeds]"] = lambda row: fmt.with_range(
        row["r"], row["r_min"], row["r_max"]
    )
    columns[f"multiply-adds at {deepest}"] = fmt.count(f"multiply_adds_{deepest}_mean")
    caption = (
        "The same weights, left at the step of each rule: as many steps as hops; best k: the best "
        "common number of steps of each depth; confidence: the first step whose class has this "
        "probability; patience: equal classes in a row; change: |s_n - s_(n-1)| / |s_n|. "
        "Multiply-adds are those of matrix products for one pair."
    )
    return Table("multihop_exits", frame, columns, caption, text_columns=2, folded="By exit rule")


def loss_table(data: Artifacts, names: pd.DataFrame) -> Table | None:
    """Return the error on untrained depths, split into the step's and the halting's."""
    rows = by_exit(data)
    rows = rows[~rows["trained"]]
    if rows.empty or data["multihop/exits"].empty:
        return None
    keys = [*RUN, "seed"]
    means = rows.pivot_table("accuracy", keys, "exit", "mean", sort=False)
    parts = pd.DataFrame(
        {
            "error": 1 - means[HALTED],
            "step": 1 - means["best k"],
            "halting": means["best k"] - means[HALTED],
        }
    ).dropna()
    frame = names.merge(mean_sd(parts.reset_index(), RUN, list(parts)), on=RUN)
    columns: dict[str, fmt.Cell] = {
        "run": fmt.text("series"),
        "error as halted, %": fmt.percent("error"),
        "of the step, %": fmt.percent("step"),
        "of the halting, %": fmt.percent("halting"),
    }
    caption = (
        "Mean error over the untrained depths. The step's is the error after the best common "
        "number of steps of each depth; the rest is the halting's. Negative: halting each pair "
        "apart is better than any common number."
    )
    return Table("multihop_losses", frame, columns, caption)


def states_chart(data: Artifacts, names: pd.DataFrame) -> list[Chart]:
    """Draw the accuracy on trained depths after k steps for all pairs."""
    rows = data["multihop/states"]
    rows = rows[rows["trained"]].groupby([*RUN, "seed", "steps"], sort=False)["accuracy"].mean()
    if rows.empty:
        return []
    frame = names.merge(mean_sd(rows.reset_index(), [*RUN, "steps"], ["accuracy"]), on=RUN)
    frame = marks.with_band(frame, "accuracy", 100, x=frame["steps"])
    layers = marks.lines(frame, "steps of all pairs", "accuracy on trained depths (%)")
    title = "The state after k steps: accuracy on trained depths"
    return [marks.chart("multihop_states", title, layers)]


STUDY = StudyReport(COLUMNS, section, run=("model", "run"), highlights=highlights)
