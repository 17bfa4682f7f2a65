"""Build the trial configurations of the grids in params.yaml, in a fixed order. No torch."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from actmodels.errors import ConfigError
from actmodels.ranges import Axes, Point, Range, grid_points, lists, size
from actmodels.trial_config import BaseTrialConfig, TrialConfig, build_trial, setting_types
from pipeline.parameters.schema import Sweep
from pipeline.parameters.section import Limits, Settings

POINTS = "points"  # the axis of the numbers of a model's points
MAX_TRIALS = 10_000  # ours: of a model; the paper's grid has 432
Config = TypeVar("Config", bound=BaseTrialConfig)
Draw = Callable[[str, Axes], list[Point]]  # returns points of a model
Trials = Iterator[tuple[Settings, Config]]  # each with its settings along the axes


def expand(
    build: Callable[..., Config],
    settings: Mapping[str, Any],
    axes: Axes,
    seeds: Sequence[int],
    limits: Limits,
    draw: Callable[[Axes], list[Settings]] = grid_points,
) -> Trials[Config]:
    """Yield every point of the axes with every seed, which varies fastest.

    Args:
        draw: returns the points; by default every combination of the axes' values.

    Raises:
        ConfigError: settings are missing, unknown or incompatible, or there are too many trials.
    """
    count = math.prod(map(len, lists(axes).values())) * len(seeds)
    if count > MAX_TRIALS:
        problem = f"makes {count:,} trials with its seeds; must be at most {MAX_TRIALS:,}"
        raise ConfigError("params.yaml", [problem])
    lengths = {"max_epochs": limits.max_epochs, "patience": limits.patience}
    for point in draw(axes):
        for seed in seeds:
            yield point, build({**settings, **point}, **lengths, seed=seed)


def known_settings(settings: Mapping[str, Any], names: Iterable[str]) -> Settings:
    """Return the settings with these names, in the names' order."""
    return {name: settings[name] for name in names if name in settings}


def model_axes(model: str, sweep: Sweep) -> dict[str, Sequence[Any] | Range]:
    """Return the lists and ranges of a model's grid, in the order of the result tables.

    The numbers of its points, if it has some, are the first axis.
    """
    grid, points = sweep.models[model].grid, sweep.models[model].points
    ordered = known_settings(grid, (*setting_types(model), *grid))
    numbers: dict[str, Sequence[Any]] = {POINTS: range(len(points))} if points else {}
    return numbers | {n: Range(**a) if isinstance(a, dict) else a for n, a in ordered.items()}


def model_trials(model: str, sweep: Sweep, draw: Draw | None = None) -> Trials[TrialConfig]:
    """Yield the trials that a search draws from a model's points and grid; by default all.

    Raises:
        ConfigError: see expand; or a point equals another one, by the settings that it leaves out.
    """
    settings = known_settings(sweep.settings, setting_types(model)) | sweep.models[model].settings
    axes, points = model_axes(model, sweep), partial(draw, model) if draw else grid_points
    listed, found = sweep.models[model].points, set[TrialConfig]()

    def build(values: Settings, **limits: int) -> TrialConfig:
        together = listed[values.pop(POINTS)] if listed else {}
        return build_trial(model, values | together, **limits)

    for point, config in expand(build, settings, axes, sweep.seeds, sweep, points):
        if config in found:
            problem = f"points[{point[POINTS]}] equals another one by what it leaves out; remove it"
            raise ConfigError("params.yaml", [problem])
        found.add(config)
        yield point, config


def sweep_trials(sweep: Sweep, draw: Draw | None = None) -> list[TrialConfig]:
    """Return the trials of the sweep, in the order of params.yaml."""
    return [config for model in sweep.models for _, config in model_trials(model, sweep, draw)]


def trial_count(sweep: Sweep) -> int:
    """Return the number of trials of the sweep; a search draws at most `trials` points a model."""
    most = math.inf if sweep.trials is None else sweep.trials
    points = (min(size(model_axes(model, sweep)), most) for model in sweep.models)
    return int(sum(points)) * len(sweep.seeds)
