"""Plan trials: cluster settings, data, selected configurations."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from actmodels.errors import ArtifactError
from actmodels.registry import deviations
from actmodels.trial_config import TrialConfig, build_trial, setting_types, trial_from_dict
from pipeline.parameters.load import Params
from pipeline.parameters.section import Limits
from pipeline.parameters.trials import model_axes, sweep_trials
from pipeline.runtime.inputs import has_recorded_params
from pipeline.runtime.results import data_digest, read_json
from pipeline.runtime.stage import artifacts, project, state_folder
from tune.trials.early_stopping import SuccessiveHalving
from tune.trials.execution import Description, Execution
from tune.trials.grid import Trial, with_keys
from tune.trials.search import SEARCHES, OptunaSearch

DATA = ("corpus", "vocabulary", "vectors", "tensors")  # stages and sections of the data


def data_is_current() -> bool:
    """Return whether the prepared data is of params.yaml, and not of an earlier experiment."""
    return all(map(has_recorded_params, DATA))


def execution_settings(params: Params, **changes: Any) -> Execution:
    """Return the section `cluster` with absolute paths, as workers have other current folders.

    Args:
        changes: of the fields of Execution, for trials that do not read the pairs of the corpus.
    """
    settings = dict(params.cluster)
    for key in ("storage", "state"):
        if "://" not in settings[key]:
            settings[key] = str(project() / Path(settings[key]).expanduser())
    name = params.sweep.name or os.environ.get("DVC_EXP_NAME", "")  # dvc exp run -n NAME
    about = Description(name, params.sweep.notes or "", params.sweep.tags)
    place: dict[str, Any] = {"data_folder": artifacts("tensors"), "dataset": params.corpus.source}
    place |= {"about": about} | changes
    return Execution(state=state_folder(), shared_state=settings.pop("state"), **place, **settings)


def best_config(model: str) -> TrialConfig:
    """Return the configuration that `select_best` selected for a model.

    Raises:
        ArtifactError: the model was not swept, or all its trials diverged.
    """
    winners = read_json("select_best", "best.json")
    if model not in winners:
        problem = f"best.json has no model {model}: it is not in the sweep, or its trials diverged"
        raise ArtifactError(f"{problem}; run: dvc repro select_best")
    return trial_from_dict(winners[model]["config"])


def with_overrides(
    base: TrialConfig,
    model: str,
    common: Mapping[str, Any],
    changes: Mapping[str, Any],
    study: Limits,
    seed: int,
) -> TrialConfig:
    """Return `base` with some settings replaced.

    Args:
        model: the model of `base`, or a variant of it; its additional settings are the common ones.
            Deviations of the 2016 code are off, but for evaluation in batches of the training size.
        common: `sweep.settings`.
        changes: the replaced settings; may include max_epochs and patience.
        study: default max_epochs and patience.
    """
    known = setting_types(model)
    off = dict.fromkeys(deviations(base.model), False)
    values = {**off, **common, **base.flat(), "evaluation_batch_size": base.training.batch_size}
    settings = {name: value for name, value in values.items() if name in known}
    limits = {"max_epochs": study.max_epochs, "patience": study.patience}
    for name, value in changes.items():
        (limits if name in limits else settings)[name] = value
    return build_trial(model, settings, seed=seed, **limits)


def planned_trials(params: Params, execution: Execution, digest: str = "") -> list[Trial]:
    """Return the trials of params.yaml; of a sequential search one per model, with the search.

    digest: of the data; by default of the stage `tensors`.
    """
    stopping, rule = params.sweep.early_stopping, None
    if stopping.rule == "successive_halving":
        rule = SuccessiveHalving(stopping.grace_period, stopping.reduction_factor)
    sweep = params.sweep
    search = SEARCHES[sweep.search](sweep.trials, sweep.search_seed)
    searches = {}
    if isinstance(search, OptunaSearch):
        searches = {name: replace(search, axes=model_axes(name, sweep)) for name in sweep.models}
    return with_keys(
        sweep_trials(sweep, search.draw), digest or data_digest(), execution, rule, searches
    )
