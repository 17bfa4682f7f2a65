"""The same trained models with a fixed number of steps, in two readings of the paper's text."""

from typing import Any

import altair as alt
import pandas as pd

from reports.blocks import Section, Table
from reports.charts import marks
from reports.format import DASH, Row, known, number, on_all_of_snli, percent, title
from reports.load import Artifacts
from reports.published.results import BY_STEPS, MEAN_STEPS
from reports.statistics import mean_sd

READINGS = {"state": "state after k steps", "capped": "halting capped at k steps"}
ADAPTIVE = "adaptive"
PLACE = ["reading", "steps"]


def ablation(data: Artifacts) -> pd.DataFrame:
    """Return accuracies, mean steps and gain of each reading and number of steps, adaptive last.

    The gain is that of adaptive halting over this on test, seed by seed.
    """
    dev, test = data["ablate/dev"], data["ablate/test"]
    own = test[test["reading"] == ADAPTIVE].set_index("seed")["accuracy"]
    gained = test.assign(gain=(test["seed"].map(own) - test["accuracy"]).round(12))
    gained.loc[gained["reading"] == ADAPTIVE, "gain"] = float("nan")
    gained = gained.rename(columns={"accuracy": "test_accuracy"})
    on_test = mean_sd(gained, PLACE, ["test_accuracy", "mean_steps", "gain"])
    on_dev = mean_sd(dev.rename(columns={"accuracy": "dev_accuracy"}), PLACE, ["dev_accuracy"])
    order = [*READINGS, ADAPTIVE]
    both = on_dev.merge(on_test, on=PLACE, how="outer")
    return both.sort_values(
        PLACE, key=lambda of: of.map(order.index) if of.name == "reading" else of
    )


def best_fixed(data: Artifacts, reading: str) -> dict[str, Any] | None:
    """Return the gain over the k that is best on dev, the smallest of equals; None without one."""
    dev = mean_sd(data.of("ablate/dev", reading=reading), ["steps"], ["accuracy"])
    gains = data.of("ablate/gains", reading=reading).merge(dev, on="steps")
    if gains.empty:
        return None
    gains = gains.sort_values(["accuracy_mean", "steps"], ascending=[False, True])
    row: dict[str, Any] = gains.iloc[0].to_dict()
    return row | {"model": data["ablate/test"]["model"].iloc[0], "steps": int(row["steps"])}


def ablation_section(data: Artifacts, published: bool) -> Section | None:
    """Return table and chart; None where no model was ablated."""
    if data["ablate/test"].empty:
        return None
    frame, model = ablation(data), data["ablate/test"]["model"].iloc[0]
    columns = {
        "reading": lambda row: READINGS.get(row["reading"], "adaptive halting"),
        "k": known("steps", lambda k: str(int(k))),
        "test accuracy, %": percent("test_accuracy"),
        "adaptive minus this, points": number("gain", scale=100, sign=True),
        "dev accuracy, %": percent("dev_accuracy"),
        "mean steps": number("mean_steps"),
    }
    if published:
        columns["paper, SNLI test, %"] = _paper
    names = frame["reading"].map(READINGS)
    dev = marks.with_band(frame, "dev_accuracy", 100, series=names, x=frame["steps"])
    adaptive = dev["reading"] == ADAPTIVE
    layers = [marks.level("adaptive halting", float(dev.loc[adaptive, "y"].iloc[0]))]
    layers += marks.lines(dev[~adaptive], "inference steps k", "dev accuracy (%)")
    if published and on_all_of_snli(data):
        layers.append(_published_points())
    heading = f"{title(model)}: dev accuracy by fixed steps"
    drawn = marks.chart("ablation", heading, layers, caption="Dashed: adaptive halting.")
    return Section(
        "Fixed vs adaptive steps",
        [Table("ablation", frame, columns, known="test_accuracy_mean"), drawn],
        f"{title(model)}, trained once per seed and run with k steps: classifying the state after "
        "k steps, or halting by itself after k steps at the latest. The paper's text admits both.",
    )


def _paper(row: Row) -> str:
    if row["reading"] == ADAPTIVE:
        return f"{BY_STEPS[ADAPTIVE]:.1f} (mean {MEAN_STEPS} steps)"
    known = BY_STEPS.get(row["steps"])
    return DASH if known is None else f"{known:.1f}"


def _published_points() -> alt.Chart:
    rows = [(MEAN_STEPS if k == ADAPTIVE else k, accuracy) for k, accuracy in BY_STEPS.items()]
    frame = pd.DataFrame(rows, columns=["x", "y"]).assign(name="paper, SNLI test")
    cross = marks.data(frame).mark_point(shape="cross", color="#009e73")
    return cross.encode(x="x:Q", y="y:Q", tooltip=["name:N", "x:Q", "y:Q"])
