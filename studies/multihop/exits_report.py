"""Multi-hop inference by exit rule: accuracy, loss of step and halting, and cost."""

import pandas as pd

from reports import format as fmt
from reports.blocks import Chart, Table
from reports.charts import marks
from reports.load import Artifacts
from reports.statistics import mean_sd, wide

RUN = ["model", "run"]
HALTED = "as halted"  # by the model's own mechanism
ORACLES = ("hops", "best k")  # exits that read the number of hops


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
