"""Trained models read back from their weights, above all the retrained ones."""

from collections.abc import Iterator
from pathlib import Path

import torch

from actmodels.config import TrialConfig, trial_from_dict
from actmodels.data.trial_data import WordVectors, input_rows, trained_rows
from actmodels.errors import ArtefactError
from actmodels.models.pair_model import PairModel, build
from actmodels.records import TrialRecord
from pipeline.running.stage import artefacts
from pipeline.trained.trials import read_records


def retrained_models() -> Iterator[tuple[TrialConfig, TrialRecord, PairModel]]:
    """Each retrained model with the parameters of its best dev epoch, in the order of retrain.

    Raises:
        ArtefactError: weights are missing or do not fit the model.
    """
    torch.set_num_threads(1)  # the same bits whatever the machine's number of cores
    words = WordVectors.load(artefacts("tensors", "embedding.pt"))
    for record in read_records("retrain"):
        config = trial_from_dict(record.config)
        path = artefacts("retrain", "weights", f"{config.model}-seed{config.seed}.pt")
        yield config, record, load_model(config, words, path, "retrain")


def load_model(config: TrialConfig, words: WordVectors, path: Path, stage: str) -> PairModel:
    """The model of a trial with the weights that `stage` stored, in evaluation mode.

    Raises:
        ArtefactError: the weights are missing or do not fit the model.
    """
    vectors = input_rows(words, config.input, config.seed)
    model = build(config, vectors, trained_rows(words, config.input))
    try:
        model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    except (OSError, RuntimeError, EOFError) as error:
        message = f"{path} is missing or does not fit the model; run: dvc repro {stage}"
        raise ArtefactError(message) from error
    return model.eval()
