"""Adaptive halting against fixed numbers of steps, in two readings of the paper."""

from typing import Any

import altair as alt
import pandas as pd

from reports import format as fmt
from reports import marks
from reports.blocks import Section, Table
from reports.load import Artifacts
from reports.published import BY_STEPS, MEAN_STEPS
from reports.statistics import mean_sd

READINGS = {"state": "state after k steps", "capped": "halting capped at k steps"}
ADAPTIVE = "adaptive"
BY = ["reading", "steps"]


def ablation(data: Artifacts) -> pd.DataFrame:
    """Return accuracy, mean steps and gain by reading and number of steps, adaptive last.

    The gain is the test accuracy of adaptive halting minus that of the row, paired by seed.
    """
    test = data["ablate/test"].rename(columns={"accuracy": "test_accuracy"})
    adaptive = test[test["reading"] == ADAPTIVE].set_index("seed")["test_accuracy"]
    gain = (test["seed"].map(adaptive) - test["test_accuracy"]).round(12)
    test = test.assign(gain=gain.where(test["reading"] != ADAPTIVE))
    test = mean_sd(test, BY, ["test_accuracy", "mean_steps", "gain"])
    dev = data["ablate/dev"].rename(columns={"accuracy": "dev_accuracy"})
    frame = mean_sd(dev, BY, ["dev_accuracy"]).merge(test, on=BY, how="outer")
    ranks = {name: rank for rank, name in enumerate([*READINGS, ADAPTIVE])}
    return frame.sort_values(BY, key=lambda column: column.map(lambda x: ranks.get(x, x)))


def best_fixed(data: Artifacts, reading: str) -> dict[str, Any] | None:
    """Return the gain over the k that is best on dev, the smallest in a tie; None without one."""
    dev = mean_sd(data.select("ablate/dev", reading=reading), ["steps"], ["accuracy"])
    gains = data.select("ablate/gains", reading=reading).merge(dev, on="steps")
    if gains.empty:
        return None
    gains = gains.sort_values(["accuracy_mean", "steps"], ascending=[False, True])
    row: dict[str, Any] = gains.iloc[0].to_dict()
    return row | {"model": data["ablate/test"]["model"].iloc[0], "steps": int(row["steps"])}


def ablation_section(data: Artifacts) -> Section | None:
    """Return a table and a chart; None if no model was ablated."""
    if data["ablate/test"].empty:
        return None
    frame, model = ablation(data), fmt.title(data["ablate/test"]["model"].iloc[0])
    columns = {
        "reading": lambda row: READINGS.get(row["reading"], "adaptive halting"),
        "k": fmt.count("steps"),
        "test accuracy, %": fmt.percent("test_accuracy"),
        "adaptive minus fixed, points": fmt.number("gain", scale=100, sign=True),
        "dev accuracy, %": fmt.percent("dev_accuracy"),
        "mean steps": fmt.number("mean_steps"),
        **({} if data.is_own else {"paper, SNLI test, %": _paper}),
    }
    names = frame["reading"].map(READINGS)
    dev = marks.with_band(frame, "dev_accuracy", 100, series=names, x=frame["steps"])
    adaptive = dev["reading"] == ADAPTIVE
    layers = [marks.level("adaptive halting", float(dev.loc[adaptive, "y"].iloc[0]))]
    layers += marks.lines(dev[~adaptive], "inference steps k", "dev accuracy (%)")
    if fmt.on_all_of_snli(data):
        layers.append(_published_points())
    title, caption = f"{model}: dev accuracy by fixed steps", "Dashed: adaptive halting."
    chart = marks.chart("ablation", title, layers, caption=caption)
    return Section(
        "Fixed vs adaptive steps",
        [Table("ablation", frame, columns, required="test_accuracy_mean"), chart],
        f"{model}, trained once per seed and evaluated with k steps: either it classifies the "
        "state after k steps, or it halts after at most k steps. The paper's text allows both.",
    )


def _paper(row: fmt.Row) -> str:
    if row["reading"] == ADAPTIVE:
        return f"{BY_STEPS[ADAPTIVE]:.1f} (mean {MEAN_STEPS} steps)"
    published = BY_STEPS.get(row["steps"])
    return fmt.DASH if published is None else f"{published:.1f}"


def _published_points() -> alt.Chart:
    rows = [(MEAN_STEPS if k == ADAPTIVE else k, accuracy) for k, accuracy in BY_STEPS.items()]
    frame = pd.DataFrame(rows, columns=["x", "y"]).assign(name="paper, SNLI test")
    cross = marks.data(frame).mark_point(shape="cross", color="#009e73")
    return cross.encode(x="x:Q", y="y:Q", tooltip=["name:N", "x:Q", "y:Q"])
