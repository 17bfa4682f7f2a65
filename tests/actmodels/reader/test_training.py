"""Training a reader: records, batches, dropout, settings."""

from typing import Any

import pytest

from actmodels.errors import ConfigError, DataError
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


def test_dropout_is_for_training_only() -> None:
    """Without it and without learning, training sees the loss of an evaluation."""
    still = 1e-12
    plain = training(dropout=0.0, max_epochs=1, learning_rate=still)
    (record,) = plain.epochs()
    assert record.train_loss == pytest.approx(evaluate(plain.model, plain.train, 7).loss, rel=1e-5)
    (dropped,) = training(dropout=0.5, max_epochs=1, learning_rate=still).epochs()
    assert dropped.train_loss != pytest.approx(record.train_loss, rel=1e-4)
    assert dropped.dev_loss == pytest.approx(record.dev_loss, rel=1e-5)


def test_too_few_questions() -> None:
    wording = r"30 training questions fill no pool of 40; lower pool_size or set keep_last"
    with pytest.raises(DataError, match=wording):
        training(pool_size=40, keep_last=False)


def test_a_pool_holds_a_batch() -> None:
    with pytest.raises(ConfigError, match="reader: pool_size is 3; must be at least batch_size, 4"):
        reader_trial(pool_size=3)
