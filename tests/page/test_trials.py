"""What the explorer of the grid is given."""

import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from reports.page.trials import trials_island
from reports.stored.artefacts import Artefacts, load

STORED = Path(__file__).parents[1] / "fixtures" / "artefacts"


@pytest.fixture(scope="module")
def artefacts() -> Artefacts:
    return load(STORED)


def changed(artefacts: Artefacts, **columns: object) -> Artefacts:
    """The artefacts with some columns of the first trial changed."""
    trials: pd.DataFrame = artefacts.trials.copy()
    for name, value in columns.items():
        trials[name] = [value, *trials[name][1:]]
    return replace(artefacts, trials=trials)


def test_every_trial_is_there_with_what_it_reached(artefacts: Artefacts) -> None:
    models = trials_island(artefacts).data["models"]
    assert [model["title"] for model in models] == ["Decomposable Attention", "Adaptive Attention"]
    stored = [row for _, row in artefacts.trials.iterrows()]
    trials = [trial for model in models for trial in model["trials"]]
    assert [trial["key"] for trial in trials] == [row["key"] for row in stored]
    for trial, row in zip(trials, stored, strict=True):
        assert trial["accuracy"] == pytest.approx(100 * row["dev_accuracy"])
        assert trial["loss"] == pytest.approx(row["dev_loss"])
        assert (trial["epoch"], trial["seed"]) == (row["best_epoch"], row["seed"])
        steps = row["dev_mean_steps"]
        assert trial["steps"] == (None if math.isnan(steps) else steps)


def test_axes_are_the_settings_that_vary_smallest_value_first(artefacts: Artefacts) -> None:
    adaptive = trials_island(artefacts).data["models"][1]
    assert adaptive["axes"] == [
        {"name": "dropout", "values": ["0.1", "0.2"]},
        {"name": "ponder_weight", "values": ["0.00005", "0.001"]},  # stored as 5e-05
    ]
    for trial, (_, row) in zip(
        adaptive["trials"],
        artefacts.trials[artefacts.trials["model"] == "adaptive_attention"].iterrows(),
        strict=True,
    ):
        dropout, weight = (
            axis["values"][at] for axis, at in zip(adaptive["axes"], trial["at"], strict=True)
        )
        assert float(dropout) == float(row["dropout"])
        assert float(weight) == float(row["ponder_weight"])


def test_a_setting_of_words_keeps_the_order_of_the_grid(artefacts: Artefacts) -> None:
    model = trials_island(changed(artefacts, init="normal")).data["models"][0]
    axis = next(axis for axis in model["axes"] if axis["name"] == "init")
    assert axis["values"] == ["normal", "xavier"]
    assert [trial["at"][model["axes"].index(axis)] for trial in model["trials"]] == [0, 1, 1, 1]


def test_seeds_are_an_axis_where_there_are_several(artefacts: Artefacts) -> None:
    one, several = (
        trials_island(a).data["models"][0] for a in (artefacts, changed(artefacts, seed=12))
    )
    assert "seed" not in [axis["name"] for axis in one["axes"]]
    assert several["axes"][-1] == {"name": "seed", "values": ["1", "12"]}


def test_the_chosen_trial_of_each_model_is_marked(artefacts: Artefacts) -> None:
    chosen = [
        trial["key"]
        for model in trials_island(artefacts).data["models"]
        for trial in model["trials"]
        if trial["chosen"]
    ]
    assert chosen == [artefacts.best[model]["key"] for model in artefacts.best]


def test_a_diverged_trial_has_no_loss(artefacts: Artefacts) -> None:
    diverged = changed(artefacts, diverged=True, dev_loss=math.nan)
    first, second = trials_island(diverged).data["models"][0]["trials"][:2]
    assert (first["diverged"], first["loss"]) == (True, None)
    assert (second["diverged"], second["loss"]) == (False, 0.5)


def test_charts_hold_no_data_of_their_own(artefacts: Artefacts) -> None:
    for spec in trials_island(artefacts).data["charts"].values():
        assert "datasets" not in spec
        names = {layer["data"]["name"] for layer in spec["layer"]}
        assert names == {"axes", "ticks", "lines", "focused"}
        assert {param["name"] for param in spec["params"]} == {"least", "most"}
