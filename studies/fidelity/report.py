"""Effect of each deviation of the 2016 code on accuracy, one change at a time."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from reports import format as fmt
from reports import marks
from reports.blocks import Section, StudyReport, Table
from reports.load import Artifacts
from reports.statistics import LEVEL
from studies.fidelity.tables import COLUMNS

ALL = "as published"  # the variant with all deviations


def variants(data: Artifacts) -> pd.DataFrame:
    """Return the variants with `claim` and `share`; the first of each model is the reference.

    share: the difference relative to that of the variant with all deviations, for variants with
    some of its settings, if that variant is significantly below the reference.
    """
    table = data["fidelity/variants"].copy()
    first = table.groupby("model", sort=False)["variant"].transform("first")
    table["claim"] = table["model"].map(fmt.title) + ": " + table["variant"] + " minus " + first
    table.loc[table["variant"] == first, ["claim", "difference", "p"]] = None
    table["share"] = float("nan")
    for _, rows in table.groupby("model", sort=False):
        whole = rows[rows["variant"] == ALL]
        for _, all_ in whole[(whole["difference"] < 0) & (whole["p"] <= LEVEL)].iterrows():
            for at, changes in rows["changes"].items():
                if (changed := _settings(changes)) and changed <= _settings(all_["changes"]):
                    table.loc[at, "share"] = rows.loc[at, "difference"] / all_["difference"]
    return table


def _settings(changes: Any) -> set[str]:
    """Return the names in `name: value, name: value`."""
    return set() if pd.isna(changes) else {part.split(":")[0] for part in changes.split(", ")}


def comparisons(data: Artifacts) -> Iterator[dict[str, Any]]:
    """Yield a claim for each variant: its difference from the first variant of its model."""
    for row in variants(data).dropna(subset=["claim"]).to_dict("records"):
        yield row | {"unit": "points"}


def section(data: Artifacts, claims: pd.DataFrame) -> Section:
    """Return a table and charts."""
    frame = variants(data).merge(claims[["claim", "p_adjusted", "verdict"]], "left", on="claim")
    columns = {
        "model": fmt.model_name,
        "variant": fmt.text("variant"),
        "changes": fmt.text("changes"),
        "seeds": fmt.count("seeds"),
        "dev accuracy, %": fmt.percent("dev_accuracy"),
        "test accuracy, %": fmt.percent("test_accuracy"),
        "mean steps": fmt.number("test_mean_steps"),
        "difference, points [95 % CI]": fmt.points,
        "p": fmt.p_value(),
        "significance (Holm-corrected)": fmt.text("verdict"),
        "share of the total difference, %": fmt.number("share", 0, scale=100),
    }
    parts = [_chart(model, rows) for model, rows in frame.groupby("model", sort=False)]
    return Section(
        "Deviations of the 2016 code",
        [*parts, Table("fidelity", frame, columns, text_columns=3)],
        "Each variant changes settings of the best configuration, and is compared with the first "
        "variant of its model on the same test pairs. Shares are relative to the variant with all "
        "deviations; they need not sum to 100 %, because deviations interact.",
    )


def _chart(model: str, rows: pd.DataFrame) -> Any:
    compared = rows.dropna(subset=["difference"])
    frame = compared[["variant", "changes", "verdict"]].set_axis(
        ["name", "changes", "series"], axis=1
    )
    frame[["x", "low", "high"]] = 100 * compared[["difference", "low", "high"]]
    layers = marks.intervals(
        frame, "difference in test accuracy (points)", zero=True, tips=["changes:N"]
    )
    reference = rows["variant"].iloc[0]
    title = f"{fmt.title(model)}: test accuracy minus that of “{reference}”, 95 % CI"
    return marks.chart(f"fidelity_{model}", title, layers, height=marks.ROW * max(1, len(frame)))


STUDY = StudyReport(COLUMNS, section, run=("model", "variant"), claims=comparisons)
