"""What each deviation of the 2016 code costs, one change at a time."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from reports.blocks import Section, Table
from reports.charts import marks
from reports.format import (
    MINUS,
    count,
    known,
    model_name,
    number,
    p_value,
    percent,
    points,
    text,
    title,
)
from reports.load import Artifacts
from reports.statistics import LEVEL

ALL = "as published"  # the variant with all deviations


def variants(data: Artifacts) -> pd.DataFrame:
    """Return the stored variants; a model's first one is what the others are compared with.

    In addition `claim` (empty for a first variant) and `share`: the difference relative to that of
    the variant with all deviations, for its parts, if that one is significantly below.
    """
    table = data["fidelity/variants"].copy()
    first = table.groupby("model", sort=False)["variant"].transform("first")
    table["claim"] = table["model"].map(title) + ": " + table["variant"] + " minus " + first
    table.loc[table["variant"] == first, ["claim", "difference", "p"]] = None
    table["share"] = float("nan")
    for _, rows in table.groupby("model", sort=False):
        whole = rows[rows["variant"] == ALL]
        for _, all_ in whole[(whole["difference"] < 0) & (whole["p"] <= LEVEL)].iterrows():
            for at, changes in rows["changes"].items():
                if (own := _settings(changes)) and own <= _settings(all_["changes"]):
                    table.loc[at, "share"] = rows.loc[at, "difference"] / all_["difference"]
    return table


def _settings(changes: Any) -> set[str]:
    """Return the names in `name: value, name: value`."""
    return set() if pd.isna(changes) else {part.split(":")[0] for part in changes.split(", ")}


def comparisons(data: Artifacts) -> Iterator[dict[str, Any]]:
    """Yield the claims of the study: each variant against the first of its model."""
    for row in variants(data).dropna(subset=["claim"]).to_dict("records"):
        yield row | {"unit": "points"}


def fidelity_section(data: Artifacts, claims: pd.DataFrame) -> Section | None:
    """Return table and chart of each model; None where the study was not run."""
    frame = variants(data)
    if frame.empty:
        return None
    frame = frame.merge(claims[["claim", "p_adjusted", "verdict"]], "left", on="claim")
    columns = {
        "model": model_name,
        "variant": text("variant"),
        "changes": text("changes"),
        "seeds": count("seeds"),
        "dev accuracy, %": percent("dev_accuracy"),
        "test accuracy, %": percent("test_accuracy"),
        "mean steps": number("test_mean_steps"),
        "difference, points (95 % interval)": points(),
        "p": p_value(),
        "verdict (Holm)": text("verdict"),
        "share of the gap, %": known("share", _share),
    }
    parts = [_chart(model, rows) for model, rows in frame.groupby("model", sort=False)]
    return Section(
        "Deviations of the 2016 code",
        [*parts, Table("fidelity", frame, columns, left=3)],
        "Each variant is the chosen configuration with the named settings changed, compared with "
        "its model's first row over the test pairs that both scored. Share of the gap is relative "
        "to the variant with all deviations; interactions keep shares from adding up to 100 %.",
    )


def _share(share: float) -> str:
    value = f"{100 * share:.0f}"
    return value.replace("-", "" if value == "-0" else MINUS)


def _chart(model: str, rows: pd.DataFrame) -> Any:
    others = rows.dropna(subset=["difference"])
    numbers = 100 * others[["difference", "low", "high"]].rename(columns={"difference": "x"})
    frame = others[["variant", "changes", "verdict"]].join(numbers)
    frame = frame.rename(columns={"variant": "name", "verdict": "series"})
    across, first = "difference in test accuracy (points)", rows["variant"].iloc[0]
    drawn = marks.intervals(frame, across, zero=True, tips=["changes:N"])
    heading = f"{title(model)}: test accuracy minus that of “{first}”, 95 % intervals"
    height = marks.ROW * max(1, len(frame))
    return marks.chart(f"fidelity_{model}", heading, drawn, height=height)
