"""Training of a reader: batches, records, dropout, word vectors, baseline."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from actmodels.errors import ConfigError, DataError
from studies.cloze.data import (
    NO_CANDIDATE,
    ClozeVectors,
    collate,
    initial_embeddings,
    most_frequent_accuracy,
    occurrences,
    pooled_batches,
)
from studies.cloze.training import ReaderTraining, evaluate
from tests.studies.cloze.samples import as_tensors, reader_data, reader_trial


def training(**changes: Any) -> ReaderTraining:
    return ReaderTraining(reader_trial(**changes), reader_data())


def test_records() -> None:
    """Training metrics count every question; dev metrics equal those of `evaluate`."""
    run = training(strategy="adaptive_computation", max_epochs=1)
    (record,) = run.epochs()
    result = evaluate(run.model, run.dev, 3)
    assert record.dev_accuracy == result.accuracy
    assert record.dev_loss == pytest.approx(result.loss, rel=1e-5)
    right = (result.predictions == run.dev.answers).sum().item()
    assert record.dev_accuracy == right / 11
    assert 1 < record.dev_mean_steps < 3
    assert record.dev_sd_steps > 0
    assert record.train_ponder_cost is None and record.dev_ponder_cost is None
    assert result.step_predictions.shape == (11, 3)


def test_dropout_is_for_training_only() -> None:
    """Without dropout and without learning, the training loss equals that of an evaluation."""
    rate = 1e-12
    plain = training(dropout=0.0, max_epochs=1, learning_rate=rate)
    (record,) = plain.epochs()
    assert record.train_loss == pytest.approx(evaluate(plain.model, plain.train, 7).loss, rel=1e-5)
    (dropped,) = training(dropout=0.5, max_epochs=1, learning_rate=rate).epochs()
    assert dropped.train_loss != pytest.approx(record.train_loss, rel=1e-4)
    assert dropped.dev_loss == pytest.approx(record.dev_loss, rel=1e-5)


def test_too_few_questions() -> None:
    wording = r"30 training questions fill no pool of 40; lower pool_size or set keep_last"
    with pytest.raises(DataError, match=wording):
        training(pool_size=40, keep_last=False)


def test_a_pool_holds_a_batch() -> None:
    with pytest.raises(ConfigError, match="reader: pool_size is 3; must be at least batch_size, 4"):
        reader_trial(pool_size=3)


def drawn(lengths: torch.Tensor, seed: int, keep_last: bool, pool: int = 10) -> list[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    batches = pooled_batches(lengths, 4, pool, keep_last, generator)
    return [batch.tolist() for batch in batches]


def test_a_pool_of_everything_takes_the_shortest() -> None:
    lengths = torch.tensor([7, 3, 9, 1, 5, 8])
    assert drawn(lengths, 0, keep_last=False, pool=6) == [[3, 1, 4, 0]]
    assert drawn(lengths, 0, keep_last=True, pool=6) == [[3, 1, 4, 0], [5, 2]]


@pytest.mark.parametrize("keep_last", [False, True])
def test_each_question_at_most_once_and_batches_in_order_of_length(keep_last: bool) -> None:
    lengths = torch.randint(300, 500, (47,))
    batches = drawn(lengths, 1, keep_last)
    seen = [row for batch in batches for row in batch]
    assert len(seen) == len(set(seen))
    # 47 - 4 n < 10 after n = 10 batches: 7 are left
    assert len(seen) == (47 if keep_last else 40)
    for batch in batches:
        ordered = lengths[batch].tolist()
        assert ordered == sorted(ordered)


def test_collate_by_hand() -> None:
    split = as_tensors(
        [([(5, 0), (6, 1)], [2, 9], 2, 1), ([(7, NO_CANDIDATE), (8, 0), (9, 2)], [2], 3, 2)]
    )
    batch = collate(split, torch.tensor([1, 0]))
    assert batch.document.tolist() == [[7, 8, 9], [5, 6, 0]]
    assert batch.document_mask.tolist() == [[True] * 3, [True, True, False]]
    assert batch.candidate_at.tolist() == [[-1, 0, 2], [0, 1, NO_CANDIDATE]]
    assert batch.query.tolist() == [[2, 0], [2, 9]]
    assert batch.query_mask.tolist() == [[True, False], [True, True]]
    assert batch.candidate_mask.tolist() == [[True] * 3, [True, True, False]]
    assert batch.answers.tolist() == [2, 1]


def test_embedding_rows() -> None:
    known = torch.arange(2000) % 2 == 0
    words, config = (
        ClozeVectors(torch.full((2000, 3), 7.0), known),
        reader_trial(embedding_range=0.1),
    )
    rows = initial_embeddings(config, words)
    assert rows[0].tolist() == [0.0] * 3
    assert bool((rows[3:][known] == 7.0).all())
    drawn = torch.cat([rows[1:3], rows[3:][~known]])
    assert drawn.min() >= -0.1 and drawn.max() < 0.1
    assert drawn.std().item() == pytest.approx(0.1 / 3**0.5, rel=0.05)
    assert torch.equal(rows, initial_embeddings(config, words))
    assert not torch.equal(rows, initial_embeddings(replace(config, seed=2), words))


def test_the_most_frequent_candidate_by_hand() -> None:
    """Correct; wrong; tie of two; tie of three, padded to four candidates."""
    documents = ([1, 1, 0, NO_CANDIDATE], [0, 0, 2], [0, 1, NO_CANDIDATE], [2, 1, 0])
    split = as_tensors(
        ([(9, at) for at in places], [2], candidates, answer)
        for places, candidates, answer in zip(documents, (2, 4, 2, 3), (1, 2, 0, 1), strict=True)
    )
    assert occurrences(split).tolist() == [[1, 2, 0, 0], [2, 0, 1, 0], [1, 1, 0, 0], [1, 1, 1, 0]]
    assert most_frequent_accuracy(split) == pytest.approx((1 + 0 + 1 / 2 + 1 / 3) / 4)
