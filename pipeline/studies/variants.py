"""Vary the selected configuration of a model, and evaluate the trained variants on pairs."""

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, TypeVar

import torch
from tqdm import tqdm

from actmodels.data.pairs import PairTensors
from actmodels.data.trial_data import WordVectors
from actmodels.errors import ArtifactError
from actmodels.evaluation import Evaluation, evaluate
from actmodels.records import TrialRecord
from actmodels.trial_config import TrialConfig, build_trial, setting_types, trial_from_dict
from pipeline.parameters.study_sections import Limits
from pipeline.runtime.results import read_json
from pipeline.runtime.stage import artifacts
from pipeline.studies.study import Run, Trained
from pipeline.trials.models import load_model
from tune.storage import Storage
from tune.store import TrialStore

Pairs = TypeVar("Pairs", bound=TrialConfig)


def best_config(model: str) -> TrialConfig:
    """Return the configuration that `select_best` selected for a model.

    Raises:
        ArtifactError: the model was not swept.
    """
    winners = read_json("select_best", "best.json")
    if model not in winners:
        raise ArtifactError(f"best.json has no model {model}; run: dvc repro select_best")
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
        common: `sweep.settings`.
        changes: the replaced settings; may include max_epochs and patience.
        study: default max_epochs and patience.
    """
    known = setting_types(model)
    settings = {name: value for name, value in {**common, **base.flat()}.items() if name in known}
    if "evaluation_batch_size" in known:  # evaluate in batches of the training size
        settings["evaluation_batch_size"] = base.training.batch_size
    limits = {"max_epochs": study.max_epochs, "patience": study.patience}
    for name, value in changes.items():
        (limits if name in limits else settings)[name] = value
    return build_trial(model, settings, seed=seed, **limits)


def evaluate_runs(
    stage: str,
    trained: Sequence[Trained[Pairs]],
    pairs: PairTensors,
    trials: Storage,
    data: str = "tensors",
) -> Iterator[tuple[Run[Pairs], TrialRecord, Evaluation]]:
    """Evaluate each run of a stage on a split, with the weights of its best epoch.

    Args:
        data: the stage that wrote the word vectors.
    """
    torch.set_num_threads(1)  # bit-identical results on any number of cores
    words = WordVectors.load(artifacts(data, "embedding.pt"))
    store = TrialStore(trials)
    for run, record in tqdm(trained, stage, unit="model", disable=not trained):
        model = load_model(run.config, words, BytesIO(store.weights(record.key)), stage)
        yield run, record, evaluate(model, pairs, run.config.input)
