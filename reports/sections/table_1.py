"""Table 1: test accuracy of our models, then what others published."""

import math

import pandas as pd

from reports.blocks import Chart, Section, Table
from reports.charts import marks
from reports.format import (
    Row,
    corpus,
    count,
    model_name,
    number,
    on_all_of_snli,
    percent,
    text,
    title,
)
from reports.load import Artifacts
from reports.published.results import SOURCES, snli
from reports.statistics import mean_sd, t_interval


def systems(data: Artifacts) -> pd.DataFrame:
    """Return our models over their seeds: the retrained ones, then the lexical classifier."""
    frames = (data["evaluate/results"], data["lexical_baseline/results"])
    rows = pd.concat(frames, ignore_index=True)
    columns = ["test_accuracy", "dev_accuracy", "test_mean_steps"]
    means = mean_sd(rows, ["model"], columns, first=["parameters", "test_pairs"])
    return means.assign(corpus=corpus(data))


def accuracy_chart(data: Artifacts) -> Chart:
    """Draw mean test accuracy of each model with its 95 % interval over seeds."""
    rows = []
    for _, row in systems(data).iterrows():
        n = int(row["test_accuracy_n"])
        found = t_interval(row["test_accuracy_mean"], row["test_accuracy_sd"], n)
        ends = {"low": max(0, 100 * found["low"]), "high": min(100, 100 * found["high"])}
        name = {"name": title(row["model"]), "series": "models", "seeds": n}
        rows.append(name | {"x": 100 * found["difference"]} | ends)
    frame = pd.DataFrame(rows)
    drawn = marks.intervals(frame, "test accuracy (%)", tips=["seeds:Q"])
    caption = "95 % intervals over seeds; none for a model that is trained once."
    height = max(marks.HEIGHT, marks.ROW * len(frame))
    heading = "Test accuracy by model"
    return marks.chart("test_accuracy", heading, drawn, caption=caption, height=height, half=True)


def table_1_section(data: Artifacts, published: bool) -> Section:
    """Return our rows, and the published ones folded below them."""
    columns = {
        "system": model_name,
        "corpus": text("corpus"),
        "parameters": count("parameters"),
        "test accuracy, %": percent("test_accuracy"),
        "dev accuracy, %": percent("dev_accuracy"),
        "seeds": count("test_accuracy_n"),
        "mean steps": number("test_mean_steps"),
        "sampling error, points": _sampling_error,
    }
    tables = [Table("table_1", systems(data), columns, left=2)]
    if published:
        note = "" if on_all_of_snli(data) else " They are not comparable with ours."
        others = {
            "system": text("system"),
            "parameters": text("parameters"),
            "test accuracy, %": text("accuracy"),
            "mean steps": text("mean_steps"),
            "source": text("source"),
        }
        tables.append(
            Table(
                *("published", snli().replace("", None), others, f"{SOURCES}{note}"),
                folded=f"Published for SNLI: {len(snli())} systems",
            )
        )
    return Section(
        "Table 1: test accuracy",
        tables,
        "Mean ± sd over seeds; parameters without word vectors. The sampling error √(p(1 - p)/n) "
        "is that of one run's accuracy on so many test pairs.",
    )


def _sampling_error(row: Row) -> str:
    p, n = row["test_accuracy_mean"], row["test_pairs"]
    return f"{100 * math.sqrt(p * (1 - p) / n):.2f}"
