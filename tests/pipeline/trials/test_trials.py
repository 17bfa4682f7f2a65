"""Rows of trials, and retrained models loaded with their trained word vectors."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from actmodels.errors import ArtifactError, SweepError
from actmodels.records import EpochRecord, TrialRecord
from actmodels.training import Training, evaluate
from pipeline.select_best import main as select_best
from pipeline.trials.models import model_in_steps, retrained_models
from pipeline.trials.records import retrained, trial_row, write_trials
from tests.pipeline.project import write_params
from tests.pipeline.tiny_export import trained
from tests.samples import MODELS, sample_trial


@pytest.fixture(params=["own", "trained"])
def training(request: pytest.FixtureRequest, folder: Path) -> Training:
    """Train one trial and write it as the stages `tensors` and `retrain` do."""
    config = sample_trial("word_by_word_attention", oov_rule=request.param)
    (training,), _ = trained(folder, config)
    return training


def test_the_model_is_the_one_of_the_best_epoch(training: Training) -> None:
    ((config, record, model),) = retrained_models()
    assert config == training.config
    training.model.load_state_dict(training.best_parameters)
    expected = evaluate(training.model, training.data.dev, config.input)
    result = evaluate(model, training.data.dev, config.input)
    assert torch.equal(result.logits, expected.logits)
    assert result.accuracy == record.best.dev_accuracy
    assert model_in_steps("trace.model", None) is None


def test_weights_of_another_rule_are_refused(training: Training) -> None:
    path = Path("artifacts/retrain/records.jsonl")
    stored = json.loads(path.read_text())
    other = {"own": "trained", "trained": "own"}[stored["config"]["input"]["oov_rule"]]
    stored["config"]["input"]["oov_rule"] = other
    path.write_text(json.dumps(stored) + "\n")
    with pytest.raises(ArtifactError, match=r"does not fit the model; run: dvc repro retrain"):
        list(retrained_models())
    (weights,) = Path("artifacts/retrain/weights").iterdir()
    weights.unlink()
    os.mkfifo(weights)
    with pytest.raises(ArtifactError, match="is missing or does not fit the model"):
        list(retrained_models())


def test_a_model_whose_trials_diverged_is_left_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With no other model the stage ends with the same sentence."""
    write_params(folder)
    wrong, right = (sample_trial(name, learning_rate=1e9) for name in MODELS)
    records = [
        TrialRecord(name, config.as_dict(), 9, (EPOCH,), {}, diverged=config is wrong)
        for name, config in (("a", wrong), ("b", right))
    ]
    write_trials("sweep", records, {})
    select_best()
    assert list(json.loads(Path("artifacts/select_best/best.json").read_text())) == [right.model]
    sentence = f"{wrong.model}: all 1 trials diverged (optimizer adam, learning_rate 1000000000.0, "
    assert capsys.readouterr().err.startswith(f"select_best: {sentence}clip_norm 5.0)")
    write_trials("sweep", records[:1], {})
    with pytest.raises(SweepError, match="^select_best: no model is left; " + re.escape(sentence)):
        select_best()
    write_trials("retrain", records, {})
    assert [record.key for record in retrained()] == ["b"]
    assert model_in_steps("trace.model", wrong.model) is None
    assert f"trace.model: {wrong.model} was not retrained" in capsys.readouterr().err


EPOCH = EpochRecord(1, 0.5, 0.5, 3.0, 1.0, 3.5, 0.9, 0.6, 3.2, 0.5, 3.9, ponder_weight=0.0005)


def test_settings_and_the_metrics_of_the_best_epoch() -> None:
    """The ponder weight was halved by the best epoch: both values have a column."""
    config = sample_trial("adaptive_attention_supervised_act", ponder_weight=0.001)
    history = (EPOCH, replace(EPOCH, epoch=2, dev_accuracy=0.5))
    row = trial_row(config, TrialRecord("k", config.as_dict(), 100, history, {"data": "d"}))
    assert (row["ponder_weight"], row["ponder_weight_end"]) == (0.001, 0.0005)
    assert {name: row[name] for name in config.flat()} == config.flat()
    assert (row["epochs"], row["best_epoch"], row["dev_accuracy"]) == (2, 1, 0.6)
