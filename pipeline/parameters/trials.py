"""Build the trial configurations of the grids in params.yaml, in a fixed order. No torch."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, TypeVar

from actmodels.errors import ConfigError
from actmodels.trial_config import BaseTrialConfig, TrialConfig, build_trial, setting_types
from pipeline.parameters.schema import Sweep
from pipeline.parameters.section import Limits, Settings

MAX_TRIALS = 10_000  # ours: of a model; the paper's grid has 432
Config = TypeVar("Config", bound=BaseTrialConfig)
Trials = Iterator[tuple[Settings, Config]]  # each with its settings along the axes


def grid_points(axes: Mapping[str, Sequence[Any]]) -> list[Settings]:
    """Return every combination of the axes' values; one empty combination without axes."""
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def expand(
    build: Callable[..., Config],
    settings: Mapping[str, Any],
    axes: Mapping[str, Sequence[Any]],
    seeds: Sequence[int],
    limits: Limits,
) -> Trials[Config]:
    """Yield every combination of the axes' values with every seed, which varies fastest.

    Raises:
        ConfigError: settings are missing, unknown or incompatible, or there are too many trials.
    """
    count = math.prod(map(len, axes.values())) * len(seeds)
    if count > MAX_TRIALS:
        problem = f"makes {count:,} trials with its seeds; must be at most {MAX_TRIALS:,}"
        raise ConfigError("params.yaml", [problem])
    lengths = {"max_epochs": limits.max_epochs, "patience": limits.patience}
    for point in grid_points(axes):
        for seed in seeds:
            yield point, build({**settings, **point}, **lengths, seed=seed)


def known_settings(settings: Mapping[str, Any], names: Iterable[str]) -> Settings:
    """Return the settings with these names, in the names' order."""
    return {name: settings[name] for name in names if name in settings}


def model_trials(model: str, sweep: Sweep) -> Trials[TrialConfig]:
    """Yield the trials of a model's grid, its axes in the order of the result tables."""
    names, model_grid = setting_types(model), sweep.models[model]
    axes = known_settings(model_grid.grid, (*names, *model_grid.grid))
    settings = known_settings(sweep.settings, names) | model_grid.settings
    return expand(partial(build_trial, model), settings, axes, sweep.seeds, sweep)


def sweep_trials(sweep: Sweep) -> list[TrialConfig]:
    """Return all trials of the sweep, in the order of params.yaml."""
    return [config for model in sweep.models for _, config in model_trials(model, sweep)]
