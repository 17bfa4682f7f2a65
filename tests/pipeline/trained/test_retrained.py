"""Retrained models as `evaluate` reads them: the weights, with the rows that were trained."""

import json
from pathlib import Path

import pytest
import torch

from actmodels.data.stored import save_stored
from actmodels.errors import ArtefactError
from actmodels.evaluation import evaluate
from actmodels.files import write_text
from actmodels.records import TrialRecord
from actmodels.training import Training
from pipeline.trained.retrained import retrained_models
from tests.samples import sample_data, sample_trial, save_sample_data


@pytest.fixture(params=["own", "trained"])
def training(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Training:
    """One trial, trained and laid out as the stages `tensors` and `retrain` do."""
    config = sample_trial("word_by_word_attention", oov_rule=request.param)
    training = Training(config, sample_data())
    list(training.epochs())
    record = TrialRecord(
        "key", config.as_dict(), training.parameters, tuple(training.history), {"data": "digest"}
    )
    folder = tmp_path / "artefacts"
    save_sample_data_in(folder / "tensors")
    write_text(folder / "retrain" / "records.jsonl", record.result_json() + "\n")
    weights = folder / "retrain" / "weights" / f"{config.model}-seed{config.seed}.pt"
    save_stored(training.best_parameters, weights)
    monkeypatch.chdir(tmp_path)
    return training


def save_sample_data_in(folder: Path) -> None:
    folder.mkdir(parents=True)
    save_sample_data(folder)


def test_the_model_is_the_one_of_the_best_epoch(training: Training) -> None:
    ((config, record, model),) = retrained_models()
    assert config == training.config
    training.model.load_state_dict(training.best_parameters)
    expected = evaluate(training.model, training.data.dev, config.input)
    found = evaluate(model, training.data.dev, config.input)
    assert torch.equal(found.logits, expected.logits)
    assert found.accuracy == record.best.dev_accuracy


def test_weights_of_another_rule_are_refused(training: Training) -> None:
    path = Path("artefacts/retrain/records.jsonl")
    stored = json.loads(path.read_text())
    other = {"own": "trained", "trained": "own"}[stored["config"]["input"]["oov_rule"]]
    stored["config"]["input"]["oov_rule"] = other
    path.write_text(json.dumps(stored) + "\n")
    with pytest.raises(ArtefactError, match=r"does not fit the model; run: dvc repro retrain"):
        list(retrained_models())
