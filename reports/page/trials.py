"""The explorer of the grid: every trial of the sweep with its settings and what it reached."""

import math
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import pandas as pd

from reports.charts.figure import Figure
from reports.charts.look import page_spec
from reports.page.island import Island
from reports.page.trials_chart import parallel_coordinates
from reports.spread import setting, title
from reports.stored.artefacts import Artefacts
from reports.tables.sweep import sweep_models, trials_of, varied

HTML = Path(__file__).with_suffix(".html")


def trials_island(artefacts: Artefacts) -> Island:
    """All trials, by model: models differ in the settings that they vary.

    Its data has `models`, each with its `axes` (name, values as a reader writes them) and its
    `trials` in grid order (`at`: the place of its value on each axis); accuracies are in percent,
    and what a trial has not, or is not finite, is null. `charts` are two specifications, for
    wide and narrow screens.
    """
    wide, narrow = (page_spec(Figure(parallel_coordinates(way), "")) for way in (True, False))
    models = [_model(artefacts, model) for model in sweep_models(artefacts)]
    data = {"models": models, "charts": {"wide": wide, "narrow": narrow}}
    return Island("trials", "All trials of the sweep", HTML.read_text(encoding="utf-8"), data)


def _model(artefacts: Artefacts, model: str) -> dict[str, Any]:
    trials = trials_of(artefacts, model)
    names = list(varied(artefacts, model))
    if trials["seed"].nunique() > 1:
        names.append("seed")
    axes = {name: _values(trials[name]) for name in names}
    chosen = set(artefacts.best[model]["keys"]) if model in artefacts.best else set()
    return {
        "name": model,
        "title": title(model),
        "axes": [{"name": name, "values": list(map(setting, axes[name]))} for name in names],
        "trials": [_trial(row, axes, chosen) for _, row in trials.iterrows()],
    }


def _trial(row: "pd.Series[Any]", axes: dict[str, list[str]], chosen: set[str]) -> dict[str, Any]:
    return {
        "key": row["key"],
        "at": [values.index(str(row[name])) for name, values in axes.items()],
        "accuracy": _finite(100 * row["dev_accuracy"], 4),
        "loss": _finite(row["dev_loss"], 4),
        "steps": _finite(row["dev_mean_steps"], 4),
        "epoch": int(row["best_epoch"]),
        "seed": int(row["seed"]),
        "diverged": bool(row["diverged"]),
        "chosen": row["key"] in chosen,
    }


def _values(column: "pd.Series[Any]") -> list[str]:
    """The different values of a setting: numbers by size, anything else in grid order."""
    found = list(dict.fromkeys(map(str, column)))
    try:
        return sorted(found, key=Decimal)
    except InvalidOperation:
        return found


def _finite(value: float, digits: int) -> float | None:
    return round(float(value), digits) if math.isfinite(value) else None
