"""Load trained models."""

import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import torch

from actmodels.data.trial_data import WordVectors, input_vectors, trained_words
from actmodels.errors import ArtifactError, ConfigError
from actmodels.files import regular
from actmodels.models.alternating import AlternatingAttention
from actmodels.models.pair_model import PairModel, build
from actmodels.records import TrialRecord
from actmodels.registry import MODELS, is_adaptive, load_class
from actmodels.trial_config import TrialConfig, trial_from_dict
from pipeline.runtime.results import data_classes
from pipeline.runtime.stage import artifacts
from pipeline.trials.records import retrained, weights_file


def model_in_steps(
    key: str, name: str | None, types: tuple[type, ...] = (AlternatingAttention,)
) -> str | None:
    """Return the model whose steps a stage reads: `name`, or the first retrained adaptive one.

    Args:
        key: the setting of the name, for messages.
        types: classes of models that the stage reads.

    Returns:
        None, with a note if there are adaptive models, if none is an AlternatingAttention, or if
        all trials of `name` diverged.

    Raises:
        ConfigError: the model `name` is not an AlternatingAttention.
    """
    models = dict.fromkeys(record.config["model"] for record in retrained())
    if name and name not in models:
        print(f"{key}: {name} was not retrained, as its trials diverged", file=sys.stderr)
        return None
    names = [name] if name else [model for model in models if is_adaptive(model)]
    for model in names:
        if issubclass(load_class(MODELS[model].model), types):
            return model
    for model in names:
        problem = f"{key}: {model} is not an AlternatingAttention, so its steps cannot be read"
        if name:
            raise ConfigError("params.yaml", [f"{problem}; see docs/extending.md"])
        print(f"{problem}: left out; see docs/extending.md", file=sys.stderr)
    return None


def retrained_models(name: str = "") -> Iterator[tuple[TrialConfig, TrialRecord, PairModel]]:
    """Yield the retrained models with this name, or all, with the weights of the best dev epoch.

    Raises:
        ArtifactError: weights are missing or do not fit the model.
    """
    torch.set_num_threads(1)  # bit-identical results on any number of cores
    words = WordVectors.load(artifacts("tensors", "embedding.pt"))
    classes = len(data_classes())
    for record in retrained():
        config = trial_from_dict(record.config)
        if name in ("", config.model):
            weights = weights_file(config)
            yield config, record, load_model(config, words, classes, weights, "retrain")


def load_model(
    config: TrialConfig, words: WordVectors, classes: int, weights: Path | BytesIO, stage: str
) -> PairModel:
    """Load the weights that `stage` stored into the model of a trial, in evaluation mode.

    Raises:
        ArtifactError: the weights are missing or do not fit the model.
    """
    vectors = input_vectors(words, config.input, config.seed)
    model = build(config, vectors, classes, trained_words(words, config.input))
    try:
        source = regular(weights) if isinstance(weights, Path) else weights
        model.load_state_dict(torch.load(source, map_location="cpu", weights_only=True))
    except (OSError, RuntimeError, EOFError) as error:
        file = weights if isinstance(weights, Path) else f"the weight file of {stage}"
        message = f"{file} is missing or does not fit the model; run: dvc repro {stage}"
        raise ArtifactError(message) from error
    return model.eval()
