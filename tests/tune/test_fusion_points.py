"""Fusions as points of Ray Tune's search space."""

from pathlib import Path

import pytest

from actmodels.ranges import Range
from tests.samples import sample_trial
from tune.trials.execution import Execution
from tune.trials.fusion import (
    fusion_point,
    point_keys,
    point_name,
    point_peers,
    point_templates,
    point_title,
    point_trials,
    search_space,
    varied_settings,
)
from tune.trials.grid import Trial, with_keys
from tune.trials.search import OptunaSearch

AA = "adaptive_attention"


@pytest.fixture
def execution(tmp_path: Path) -> Execution:
    return Execution(tmp_path, tmp_path, tmp_path)


def trials(execution: Execution, **search: OptunaSearch) -> list[Trial]:
    configs = [
        sample_trial(AA, ponder_weight=weight, seed=seed)
        for weight in (0.001, 0.002)
        for seed in (1, 2)
    ]
    return with_keys(configs, "data", execution, searches=search)


def test_a_point_has_each_setting_and_lists_where_a_fusion_differs(execution: Execution) -> None:
    first, second, third, _ = trials(execution)
    one, fused = fusion_point([first]), fusion_point([first, second, third])
    assert one == {"key": first.key, **first.config.flat()}
    assert fused["ponder_weight"] == [0.001, 0.001, 0.002] and fused["seed"] == [1, 2, 1]
    assert not isinstance(fused["seed"], list)  # Ray would take its items for settings
    assert fused["model"] == AA and fused["learning_rate"] == one["learning_rate"]
    assert point_keys(one) == [first.key]
    assert point_keys(fused) == [first.key, second.key, third.key]
    assert point_name(one) == first.name
    assert point_name(fused) == f"{first.name}-and-2-more"
    planned = {trial.key: trial for trial in (first, second, third)}
    assert point_trials(fused, planned) == [first, second, third]


def test_the_space_has_the_values_that_all_points_share(execution: Execution) -> None:
    listed = [fusion_point([trial]) for trial in trials(execution)]
    space = search_space(listed)
    assert space.keys() == listed[0].keys()
    assert {name for name, value in space.items() if value != listed[0][name]} == {
        *("key", "ponder_weight", "seed"),
    }
    assert space["key"] is None


def test_a_proposed_point_is_read_as_the_trial_that_proposed_it(execution: Execution) -> None:
    axes = {"ponder_weight": Range(0.0005, 0.01)}
    planned = trials(execution, **{AA: OptunaSearch(3, 1, axes=axes)})[:2]
    proposed = [trial.at({"ponder_weight": 0.004}) for trial in planned]
    point = fusion_point(proposed, [["a", "b"], ["c", "d"]])
    assert point_templates(point) == [trial.key for trial in planned]
    assert point_trials(point, {trial.key: trial for trial in planned}) == proposed
    assert point_peers(point) == [["a", "b"], ["c", "d"]]


def test_a_title_has_trial_epoch_and_the_settings_that_vary(execution: Execution) -> None:
    first, second, *_ = both = trials(execution)
    varied = varied_settings([trial.config for trial in both], ["dropout"])
    assert varied == ["seed", "ponder_weight", "dropout"]
    epochs, dropout = first.config.max_epochs, first.config.flat()["dropout"]
    assert point_title(fusion_point([first, second]), varied, 3) == (
        f"ray::{first.name}-and-1-more epoch 3/{epochs} seed=1|2 ponder_weight=0.001 "
        f"dropout={dropout}"
    )
