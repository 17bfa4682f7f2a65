"""Artefacts of the size of the paper's grid, and a page with everything that a report may have."""

import itertools
from collections.abc import Hashable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from reports.charts.plans import figures
from reports.page.page import write_page
from reports.page.trials import trials_island
from reports.stored.artefacts import Artefacts
from reports.sweep import range_table
from reports.tables import table_1, table_1_note

EPOCHS = 15
# The grid of the paper: 54 and 432 trials.
GRIDS: dict[str, dict[str, list[str]]] = {
    "decomposable_attention": {
        "learning_rate": ["0.001", "0.0005", "0.0001"],
        "dropout": ["0.1", "0.2"],
        "width": ["200", "256", "300"],
        "batch_size": ["8", "16", "32"],
    },
    "adaptive_attention": {
        "learning_rate": ["0.01", "0.05", "0.001"],
        "ponder_weight": ["0.001", "0.0005", "0.0001", "5e-05"],
        "dropout": ["0.1", "0.2"],
        "width": ["200", "256", "300"],
        "batch_size": ["8", "16", "32"],
        "epsilon": ["0.01", "0.2"],
    },
}


def accuracy(at: int) -> float:
    """Dev accuracy of the trial at a place of the grid: no two alike, in no order."""
    return 0.70 + 0.15 * ((at * 0.618033988749895) % 1)


def grown(artefacts: Artefacts) -> Artefacts:
    """The artefacts with a sweep over the paper's grid, the first trial of each model chosen."""
    trials = pd.DataFrame(list(_trials(artefacts)))
    return replace(
        artefacts,
        trials=trials.astype(artefacts.trials.dtypes),
        sweep_history=pd.DataFrame(list(_history(artefacts, trials))),
        sweep=artefacts.sweep | {"trials": len(trials)},
    )


def _trials(artefacts: Artefacts) -> Iterator[dict[Hashable, Any]]:
    at = 0
    for model, grid in GRIDS.items():
        pattern = artefacts.trials[artefacts.trials["model"] == model].iloc[0].to_dict()
        for place, values in enumerate(itertools.product(*grid.values())):
            measured = {"dev_accuracy": accuracy(at), "best_epoch": 1 + at % EPOCHS}
            if model == "adaptive_attention":
                measured["dev_mean_steps"] = 2 + at % 7
            key = pattern["key"] if place == 0 else f"{at:06x}"
            settings = dict(zip(grid, values, strict=True))
            yield pattern | settings | measured | {"key": key, "epochs": EPOCHS}
            at += 1


def _history(artefacts: Artefacts, trials: pd.DataFrame) -> Iterator[dict[Hashable, Any]]:
    stored = artefacts.sweep_history
    patterns = {model: rows.iloc[0].to_dict() for model, rows in stored.groupby("model")}
    for trial in trials.to_dict("records"):
        for epoch in range(1, EPOCHS + 1):
            lost = 0.002 * abs(epoch - trial["best_epoch"])
            row = patterns[trial["model"]] | {"key": trial["key"], "epoch": epoch}
            row["dev_accuracy"] = trial["dev_accuracy"] - lost
            if trial["model"] == "adaptive_attention":
                row["dev_mean_steps"] = trial["dev_mean_steps"] + 0.1 * (
                    trial["best_epoch"] - epoch
                )
                row["ponder_weight"] = float(trial["ponder_weight"])
            yield row


def write_sample(path: Path, artefacts: Artefacts) -> list[str]:
    """A page with all figures, tables of every kind and the explorer; the figures' names."""
    drawn = figures(artefacts)
    parts = [
        "# A report",
        "What it says, with *stress*, `code` and a [link](#ranges).",
        "## Table 1",
        *(table_1(artefacts, True), table_1_note(artefacts, True)),
        "## Ranges",
        range_table(artefacts),
        "## Figures",
        *(f"![The figure {name}](figures/{name}.png)" for name in drawn),
        "### A list",
        "- one\n- two",
        "[All trials](index.html#trials)",
        "## Last",
        "The end.",
    ]
    write_page(path, "A report", "\n\n".join(parts), drawn, [trials_island(artefacts)])
    return list(drawn)
