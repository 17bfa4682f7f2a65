"""The report's figures as flat names and numbers, for `dvc metrics show` and MLflow."""

import re

import pandas as pd

from reports.load import Artifacts
from reports.sections.multihop import correlations, over_depths
from reports.sections.table_1 import systems


def metrics(data: Artifacts) -> dict[str, float]:
    """Return accuracies in [0, 1] and mean steps; an sd is left out where there is one seed.

    All other figures are in tables/.
    """
    flat: dict[str, float] = {"sweep.trials": len(data["sweep/trials"])}
    for row in systems(data).to_dict("records"):
        for column in ("test_accuracy", "dev_accuracy", "test_mean_steps"):
            name = f"{row['model']}.{column.replace('test_mean', 'mean')}"
            flat |= _known({f"{name}_{part}": row[f"{column}_{part}"] for part in ("mean", "sd")})
    for row in data["evaluate/paired"].to_dict("records"):
        flat[f"{row['model']}.minus_{row['reference']}"] = float(row["difference"])
    hops = over_depths(data).merge(correlations(data), on=["model", "run"])
    for row in hops.to_dict("records"):
        place = f"multihop.{row['model']}.{metric_name(row['run'])}"
        figures = {name: row[f"{name}_mean"] for name in ("trained_accuracy", "untrained_accuracy")}
        flat |= _known({f"{place}.{name}": value for name, value in figures.items()})
        flat |= _known({f"{place}.correlation": row["r"]})
    return flat


def _known(figures: dict[str, float]) -> dict[str, float]:
    return {name: float(value) for name, value in figures.items() if not pd.isna(value)}


def metric_name(text: str) -> str:
    """Return a text as part of a metric's name; MLflow allows few signs besides letters."""
    return re.sub(r"[^A-Za-z0-9.-]+", "_", text).strip("_")
