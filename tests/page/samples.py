"""Artefacts of the size of the paper's grid, and a page with everything that a report may have."""

import itertools
from collections.abc import Hashable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from reports.blocks import Block, Chart, Heading, Island, Living, Text
from reports.page.page import write_page
from reports.page.trials import trials_island
from reports.report import report
from reports.stored.artefacts import Artefacts
from reports.tables.sweep import range_table
from reports.tables.table_1 import table_1, table_1_note

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


def around(island: Island) -> list[Block]:
    """A page of one living part, with text before and after."""
    before: list[Block] = [Heading("Report", 1), Text("Text.")]
    return [*before, Living("Here", island), Heading("After"), Text("More text.")]


def write_sample(path: Path, artefacts: Artefacts) -> list[str]:
    """A page with all figures, tables of every kind and the explorer; the figures' names."""
    drawn = [block for block in report(artefacts, True) if isinstance(block, Chart)]
    blocks = [
        Heading("A report", 1),
        Text("What it says, with *stress*, `code` and a [link](#ranges)."),
        Heading("Table 1"),
        *(table_1(artefacts, True), Text(table_1_note(artefacts, True))),
        Heading("Ranges"),
        range_table(artefacts),
        Heading("Figures"),
        *drawn,
        Heading("A list", 3),
        Text("- one\n- two"),
        Living("All trials", trials_island(artefacts)),
        Heading("Last"),
        Text("The end."),
    ]
    write_page(path, "A report", blocks)
    return [chart.name for chart in drawn]
