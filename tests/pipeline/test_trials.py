"""Trials of a grid: their order, and the precedence of settings."""

from typing import Any

from pipeline.parameters.schema import EarlyStopping, ModelGrid, Sweep
from pipeline.parameters.trials import sweep_trials
from tests.samples import SETTINGS

MODEL = "decomposable_attention"
NO_RULE = EarlyStopping(rule="none", grace_period=1, reduction_factor=3)


def sweep(grid: dict[str, list[Any]], seeds: list[int], **own: Any) -> Sweep:
    """Return a sweep of one model; keyword arguments are the model's settings."""
    return Sweep(
        **{"seeds": seeds, "max_epochs": 15, "patience": 0, "early_stopping": NO_RULE},
        **{"search": "grid", "trials": None, "search_seed": 1, "only": None},
        **{"settings": SETTINGS, "models": {MODEL: ModelGrid(settings=own, grid=grid)}},
    )


def test_axes_have_the_order_of_the_result_tables_and_seeds_vary_fastest() -> None:
    grid = {"learning_rate": [0.1, 0.2], "width": [8, 4]}
    result = sweep_trials(sweep(grid, [5, 7]))
    assert result == sweep_trials(sweep(dict(reversed(grid.items())), [5, 7]))
    assert [(c.network.width, c.training.learning_rate, c.seed) for c in result] == [
        *((8, 0.1, 5), (8, 0.1, 7), (8, 0.2, 5), (8, 0.2, 7)),
        *((4, 0.1, 5), (4, 0.1, 7), (4, 0.2, 5), (4, 0.2, 7)),
    ]
    assert {(c.max_epochs, c.patience) for c in result} == {(15, 0)}


def test_the_settings_of_a_model_take_precedence() -> None:
    """Its grid and its settings override the common ones."""
    [config] = sweep_trials(sweep({"width": [2]}, [1], dropout=0.3))
    assert config.flat().items() >= {"width": 2, "dropout": 0.3, "init": SETTINGS["init"]}.items()
