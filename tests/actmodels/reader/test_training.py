"""Training a reader: records, batches, dropout, settings."""

from typing import Any

import pytest
import torch

from actmodels.errors import ConfigError, DataError
from actmodels.reader.config import build_reader_trial
from actmodels.reader.evaluation import evaluate
from actmodels.reader.training import ReaderTraining
from tests.actmodels.reader.samples import reader_data, reader_trial


def training(**changes: Any) -> ReaderTraining:
    return ReaderTraining(reader_trial(**changes), reader_data())


def test_records() -> None:
    """Train figures count every question; dev figures are those of an evaluation by hand."""
    run = training(strategy="adaptive_computation", max_epochs=1)
    (record,) = run.epochs()
    measured = evaluate(run.model, run.dev, 3)
    assert record.dev_accuracy == measured.accuracy
    assert record.dev_loss == pytest.approx(measured.loss, rel=1e-5)
    right = (measured.predictions == run.dev.answers).sum().item()
    assert record.dev_accuracy == right / 11
    assert 1 < record.dev_mean_steps < 3
    assert record.dev_sd_steps > 0
    assert record.train_ponder_cost is None and record.dev_ponder_cost is None
    assert measured.step_predictions.shape == (11, 3)


def test_query_gating_answers_at_the_last_step() -> None:
    run = training(steps=3, max_epochs=1)
    (record,) = run.epochs()
    assert (record.dev_mean_steps, record.dev_sd_steps) == (3.0, 0.0)
    measured = evaluate(run.model, run.dev, 3)
    assert torch.equal(measured.step_predictions[:, -1], measured.predictions)


def test_dropout_is_for_training_only() -> None:
    """Without it and without learning, training sees the loss of an evaluation."""
    still = 1e-12
    plain = training(dropout=0.0, max_epochs=1, learning_rate=still)
    (record,) = plain.epochs()
    assert record.train_loss == pytest.approx(evaluate(plain.model, plain.train, 7).loss, rel=1e-5)
    (dropped,) = training(dropout=0.5, max_epochs=1, learning_rate=still).epochs()
    assert dropped.train_loss != pytest.approx(record.train_loss, rel=1e-3)
    assert dropped.dev_loss == pytest.approx(record.dev_loss, rel=1e-5)


def test_batches_are_new_in_each_epoch() -> None:
    """Section 4.1 regenerates them: their documents have other lengths."""
    run = training(learning_rate=1e-12, pool_size=10)
    lengths: list[list[int]] = [[], []]
    for epoch in range(2):
        seen = lengths[epoch]
        hook = run.model.register_forward_pre_hook(
            lambda model, inputs, seen=seen: (
                seen.append(int(inputs[0].document_mask.sum())) if model.training else None
            )
        )
        run.run_epoch()
        hook.remove()
    assert lengths[0] != lengths[1] and sum(lengths[0]) == sum(lengths[1])


def test_dropout_masks_are_new_in_each_update(monkeypatch: pytest.MonkeyPatch) -> None:
    run, keys = training(), []
    restart = run.model.dropout_stream.restart

    def noted(key: torch.Tensor) -> None:
        keys.append(int(key))
        restart(key)

    monkeypatch.setattr(run.model.dropout_stream, "restart", noted)
    run.run_epoch(), run.run_epoch()
    assert len(keys) == len(set(keys)) == 2 * 8  # 30 questions, 4 in a batch


def test_frozen_embeddings_are_not_trained() -> None:
    for trained in (False, True):
        run = training(trained_embeddings=trained, max_epochs=1)
        before = run.model.embedding.weight.clone()
        run.run_epoch()
        assert torch.equal(run.model.embedding.weight, before) is not trained
        assert not run.model.embedding.weight[0].any()  # padding


def test_too_few_questions() -> None:
    wording = r"30 training questions fill no pool of 40; lower pool_size or set keep_last"
    with pytest.raises(DataError, match=wording):
        training(pool_size=40, keep_last=False)


def test_published_settings_can_be_said() -> None:
    settings = {
        **{"strategy": "adaptive_computation", "steps": 12, "memory_size": 436},
        **{"compose_activation": "relu", "forget_bias": 0, "parameter_range": 0.1},
        **{"embedding_range": 0.1, "trained_embeddings": True, "dropout": 0.2},
        **{"learning_rate": 0.001, "clip_norm": 15.0, "batch_size": 32, "pool_size": 320},
        **{"keep_last": False, "evaluation_batch_size": 32},
    }
    for kind, changes in (
        ("NE", {}),
        ("CN", {"learning_rate": 0.0005}),
        ("WDW", {"batch_size": 25}),
    ):
        config = build_reader_trial(kind, settings | changes, max_epochs=20, patience=1, seed=1)
        assert config.model == "nse_adaptive_computation"
        assert {"questions": kind, "clip_norm": 15.0, **changes}.items() <= config.flat().items()


def test_a_pool_holds_a_batch() -> None:
    with pytest.raises(ConfigError, match="reader: pool_size is 3; must be at least batch_size, 4"):
        reader_trial(pool_size=3)
