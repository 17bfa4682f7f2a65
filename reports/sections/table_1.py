"""Table 1: test accuracy of our models and of published ones."""

import math

import pandas as pd

from reports import format as fmt
from reports import marks
from reports.blocks import Chart, Section, Table
from reports.load import Artifacts
from reports.published import SNLI, SOURCES
from reports.statistics import accuracy_interval, mean_sd, wide


def systems(data: Artifacts) -> pd.DataFrame:
    """Return mean and sd of our models: the retrained ones, then the lexical baseline."""
    frames = (data["evaluate/results"], data["lexical_baseline/results"])
    rows = pd.concat(frames, ignore_index=True)
    columns = ["test_accuracy", "dev_accuracy", "test_mean_steps"]
    means = mean_sd(rows, ["model"], columns, first=["parameters", "test_pairs"])
    return means.assign(corpus=fmt.corpus(data))


def recall(data: Artifacts) -> pd.DataFrame:
    """Return the recall of each label by model, mean and sd over seeds."""
    names = ["model", "seed", "label", "predicted"]
    frames = (data["evaluate/predictions"], data["lexical_baseline/predictions"])
    rows = pd.concat([frame[names] for frame in frames], ignore_index=True)
    rows["recall"] = (rows["label"] == rows["predicted"]).astype(float)
    seeds = rows.groupby(names[:3], sort=False, as_index=False)["recall"].mean()
    return wide(mean_sd(seeds, ["model", "label"], ["recall"]), ["model"], "label")


def accuracy_chart(data: Artifacts) -> Chart:
    """Draw mean test accuracy of each model with its 95 % CI over seeds."""
    rows = []
    for _, row in systems(data).iterrows():
        mean, n = row["test_accuracy_mean"], int(row["test_accuracy_n"])
        low, high = accuracy_interval(mean, row["test_accuracy_sd"], n)
        name = {"name": fmt.model_name(row), "series": "models", "seeds": n}
        rows.append(name | {"x": 100 * mean, "low": low, "high": high})
    layers = marks.intervals(pd.DataFrame(rows), "test accuracy (%)", tips=["seeds:Q"])
    height, title = max(marks.HEIGHT, marks.ROW * len(rows)), "Test accuracy by model"
    caption = "95 % CI over seeds; none for a single seed."
    return marks.chart("test_accuracy", title, layers, caption=caption, height=height, half=True)


def table_1_section(data: Artifacts) -> Section:
    """Return our models, and the published ones in a folded table."""
    columns = {
        "system": fmt.model_name,
        "corpus": fmt.text("corpus"),
        "parameters": fmt.count("parameters"),
        "test accuracy, %": fmt.percent("test_accuracy"),
        "dev accuracy, %": fmt.percent("dev_accuracy"),
        "seeds": fmt.count("test_accuracy_n"),
        "mean steps": fmt.number("test_mean_steps"),
        "binomial SE, points": _standard_error,
    }
    recalls = recall(data)
    labels = [label for label in data.classes if f"recall_{label}_mean" in recalls]
    cells = {"system": fmt.model_name} | {n: fmt.percent(f"recall_{n}") for n in labels}
    caption = "Recall on test, %: the share of a label's pairs that are classified correctly."
    own = [
        Table("table_1", systems(data), columns, text_columns=2),
        Table("recall", recalls, cells, caption),
    ]
    note = "" if fmt.on_all_of_snli(data) else " They are not comparable with ours."
    published_columns = {
        "system": fmt.text("system"),
        "parameters": fmt.text("parameters"),
        "test accuracy, %": fmt.text("accuracy"),
        "mean steps": fmt.text("mean_steps"),
        "source": fmt.text("source"),
    }
    published = Table(
        *("published", SNLI.replace("", None), published_columns, f"{SOURCES}{note}"),
        folded=f"Published for SNLI: {len(SNLI)} systems",
    )
    return Section(
        "Table 1: test accuracy",
        own if data.is_own else [*own, published],
        "Mean ± sd over seeds; parameters without word vectors. The binomial standard error "
        f"√(p(1 - p)/n) is that of one run on n test pairs; {fmt.majority(data)}.",
    )


def _standard_error(row: fmt.Row) -> str:
    p, n = row["test_accuracy_mean"], row["test_pairs"]
    return f"{100 * math.sqrt(p * (1 - p) / n):.2f}"
