"""From the grids of params.yaml to trials, in a fixed order. No torch."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, TypeVar

from actmodels.cloze.config import ReaderTrialConfig, build_reader_trial
from actmodels.errors import ConfigError
from actmodels.multihop import config as multihop
from actmodels.sequences import config as sequences
from actmodels.trial_config import BaseTrialConfig, TrialConfig, build_trial, setting_types
from pipeline.parameters.schema import Sweep
from pipeline.parameters.study_sections import Limits, Multihop, ReadingStudy, SequenceStudy

MOST_TRIALS = 10_000  # ours: of a model; the paper's grid has 432
Changes = dict[str, Any]
Config = TypeVar("Config", bound=BaseTrialConfig)


def points(axes: Mapping[str, Sequence[Any]]) -> list[Changes]:
    """Every combination of the values of some settings; one, without settings, of none."""
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def expand(
    build: Callable[..., Config],
    settings: Mapping[str, Any],
    axes: Mapping[str, Sequence[Any]],
    seeds: Sequence[int],
    limits: Limits,
) -> Iterator[tuple[Changes, Config]]:
    """Every combination of the axes' values with every seed, which varies fastest.

    Raises:
        ConfigError: settings are missing or unknown, cannot be together, or make too many trials.
    """
    count = math.prod(map(len, axes.values())) * len(seeds)
    if count > MOST_TRIALS:
        problem = f"makes {count:,} trials with its seeds; must be at most {MOST_TRIALS:,}"
        raise ConfigError("params.yaml", [problem])
    lengths = {"max_epochs": limits.max_epochs, "patience": limits.patience}
    for changes in points(axes):
        for seed in seeds:
            yield changes, build({**settings, **changes}, **lengths, seed=seed)


def shared(settings: Mapping[str, Any], known: Iterable[str]) -> Changes:
    """Those of some common settings that a trial has."""
    return {name: settings[name] for name in known if name in settings}


def model_trials(model: str, sweep: Sweep) -> Iterator[TrialConfig]:
    """The grid of a model, its axes in the order of the result tables."""
    known, own = setting_types(model), sweep.models[model]
    ordered = shared(own.grid, (*known, *own.grid))
    settings = shared(sweep.settings, known) | own.settings
    for _, config in expand(partial(build_trial, model), settings, ordered, sweep.seeds, sweep):
        yield config


def sweep_trials(sweep: Sweep) -> list[TrialConfig]:
    """All trials of the sweep, in the order of params.yaml."""
    return [config for model in sweep.models for config in model_trials(model, sweep)]


def sequence_trials(
    task: str, kind: str, study: SequenceStudy, seeds: Sequence[int]
) -> Iterator[tuple[Changes, sequences.SequenceTrialConfig]]:
    """The trials of a task with a halting mechanism, and their settings along the axes."""
    settings = shared(study.settings, sequences.sequence_setting_types(task, kind))
    build = partial(sequences.build_sequence_trial, task, kind)
    return expand(build, settings, study.kinds[kind], seeds, study)


def multihop_trials(
    model: str, study: Multihop
) -> Iterator[tuple[Changes, multihop.MultihopTrialConfig]]:
    """The trials of a model on multi-hop pairs, and their settings along the axes."""
    settings = shared(study.settings, multihop.multihop_setting_types(model))
    build = partial(multihop.build_multihop_trial, model)
    return expand(build, settings, study.models[model], study.seeds, study)


def reader_trials(
    questions: str, study: ReadingStudy, seeds: Sequence[int]
) -> Iterator[tuple[Changes, ReaderTrialConfig]]:
    """One step, if asked for, then each strategy with its numbers of steps."""
    compared = {"query_gating": [1] * study.one_step + study.query_gating}
    compared["adaptive_computation"] = study.adaptive_computation
    build = partial(build_reader_trial, questions)
    for strategy, steps in compared.items():
        axes: dict[str, list[Any]] = {"strategy": [strategy], "steps": steps}
        yield from expand(build, study.settings, axes, seeds, study)
