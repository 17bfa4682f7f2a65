"""What the studies `fidelity` and `halting` share: changed configurations, each with its seeds."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actmodels.config import TrialConfig, build_trial, setting_types, trial_from_dict
from actmodels.errors import ArtefactError
from actmodels.records import TrialRecord
from pipeline.running.stage import artefacts
from pipeline.trained.trials import keyed
from tune.execution import Execution


@dataclass(frozen=True)
class Run:
    """One training of a study: what it belongs to, and its configuration."""

    labels: dict[str, Any]
    config: TrialConfig


def chosen(model: str) -> TrialConfig:
    """The configuration that `select_best` chose for a model.

    Raises:
        ArtefactError: there is none.
    """
    path = artefacts("select_best", "best.json")
    try:
        winners = json.loads(path.read_text(encoding="utf-8"))
        return trial_from_dict(winners[model]["config"])
    except (OSError, ValueError, KeyError) as error:
        problem = f"{path} is missing or has no model {model}; run: dvc repro select_best"
        raise ArtefactError(problem) from error


def changed(
    base: TrialConfig,
    model: str,
    common: Mapping[str, Any],
    changes: Mapping[str, Any],
    *,
    max_epochs: int,
    patience: int,
    seed: int,
) -> TrialConfig:
    """A configuration like `base` but for some settings.

    Args:
        model: base's own or a relative of it, whose further settings are the common ones.
        common: `sweep.settings`.
        changes: the settings that differ; max_epochs and patience may be among them.
    """
    known = setting_types(model)
    settings = {name: value for name, value in {**common, **base.flat()}.items() if name in known}
    if "evaluation_batch_size" in known:  # batch mates in evaluation are as many as in training
        settings["evaluation_batch_size"] = base.training.batch_size
    limits = {"max_epochs": max_epochs, "patience": patience}
    for name, value in changes.items():
        (limits if name in limits else settings)[name] = value
    return build_trial(model, settings, seed=seed, **limits)


def train(
    kind: str, runs: Sequence[Run], execution: Execution, *, keep_weights: bool
) -> list[TrialRecord]:
    """Train all runs, each configuration once however many runs share it; records in their order.

    A run that another stage has trained already, such as the winner itself, is reused.
    """
    from tune.sweep import run_trials  # Ray and MLflow, where there is something to train

    trials = keyed([run.config for run in runs], execution)
    distinct = {trial.key: trial for trial in trials}
    records = run_trials(kind, list(distinct.values()), execution, keep_weights=keep_weights)
    by_key = {record.key: record for record in records}
    return [by_key[trial.key] for trial in trials]


def trained(record: TrialRecord) -> dict[str, Any]:
    """What a line of results says of the training itself."""
    return {
        "key": record.key,
        "parameters": record.parameters,
        "epochs": len(record.history),
        "best_epoch": record.best.epoch,
        "diverged": record.diverged,
    }


def run_row(run: Run, record: TrialRecord) -> dict[str, Any]:
    """One line of a study's results: labels, then the figures of the best dev epoch."""
    best = record.best
    return {
        **run.labels,
        "seed": run.config.seed,
        **trained(record),
        "dev_accuracy": best.dev_accuracy,
        "dev_mean_steps": best.dev_mean_steps,
        "dev_sd_steps": best.dev_sd_steps,
        "ponder_weight_end": best.ponder_weight,
    }


def summarise(
    rows: Sequence[dict[str, Any]], outer: str, inner: str, kept: Sequence[str]
) -> dict[str, Any]:
    """The `kept` figures of each row under its two labels, as a metric file holds them."""
    summary: dict[str, Any] = {}
    for row in rows:
        summary.setdefault(row[outer], {})[row[inner]] = {name: row[name] for name in kept}
    return summary


def spent(record: TrialRecord) -> dict[str, Any]:
    """How many epochs were timed, and their seconds."""
    seconds = [epoch.seconds for epoch in record.history if epoch.seconds is not None]
    return {"epochs": len(seconds), "seconds": sum(seconds)}


def timing_row(run: Run, record: TrialRecord) -> dict[str, Any]:
    """Seconds of training, on whatever machine it ran; apart from the results, which repeat."""
    return {**run.labels, "seed": run.config.seed, **spent(record)}
