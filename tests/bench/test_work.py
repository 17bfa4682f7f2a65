"""The workload has SNLI's lengths and a trained model's steps; plain models compute the same."""

from typing import Any

import pytest
import torch

from actmodels.data.pairs import Batch, batches_by_length, collate
from actmodels.training import Training
from bench.peers import (
    PlainActRnn,
    PlainAdaptiveAttention,
    PlainDecomposableAttention,
    PlainHopAttention,
    copy_parameters,
)
from bench.training import RNN_SETTINGS, hop_training
from bench.work import TINY, Sizes, build_fusion, drawn_data, sampled, trial
from studies.sequences.config import build_sequence_trial
from studies.sequences.training import SequenceTraining

MANY = Sizes(20_000, 200, 2, 4)


def test_lengths_match_snli() -> None:
    pairs = drawn_data(MANY).train
    for offsets, mean, sd in (
        (pairs.premise_offsets, 14.1, 6.0),
        (pairs.hypothesis_offsets, 7.8, 3),
    ):
        lengths = offsets.diff().double()
        assert lengths.mean() == pytest.approx(mean, rel=0.03)
        assert lengths.std() == pytest.approx(sd, rel=0.03)
        assert lengths.min() >= 1


def test_an_epoch_of_the_sample_is_batches_of_the_whole() -> None:
    whole, sample = drawn_data(MANY).train, sampled(drawn_data(MANY), 16, 20).train
    assert len(sample) == 16 * 20
    mean, of_sample = (each.premise_offsets.diff().double().mean() for each in (whole, sample))
    assert of_sample == pytest.approx(float(mean), rel=0.05)
    # neighbors among 20,000 pairs have hypotheses of similar length too; 16 of 320 would not
    hypotheses = sample.hypothesis_offsets.diff()
    distinct = [len(hypotheses[index].unique()) for index in batches_by_length(sample, 16)]
    assert sum(distinct) / len(distinct) < 3


def test_trials_take_the_requested_steps() -> None:
    data = sampled(drawn_data(TINY), 32, 8)

    def mean(member: int, fusion: int) -> float:
        model = build_fusion(TINY.width, 32, data, fusion).members[member].model.eval()
        batch = collate(data.train, torch.arange(len(data.train)), null_token=False)
        return float(model(batch).steps.mean())

    assert mean(0, 1) == pytest.approx(5.1, abs=0.1)
    assert [mean(0, 2), mean(1, 2)] == pytest.approx([6.65, 3.55], abs=0.1)


def test_plain_decomposable_attention() -> None:
    config = trial(TINY.width, 8, model="decomposable_attention", optimizer="adam")
    training = Training(config, drawn_data(TINY))
    model = training.model.eval()
    vectors: Any = model.words.vectors
    plain = PlainDecomposableAttention(vectors, TINY.width, 0.1).eval()
    copy_parameters(plain, model.parameters())
    batch = collate(training.train, torch.arange(8), null_token=False)
    ids = (batch.premise, batch.premise_mask, batch.hypothesis, batch.hypothesis_mask)
    torch.testing.assert_close(plain(*ids), model(batch).logits)


def test_plain_adaptive_attention() -> None:
    data = sampled(drawn_data(TINY), 32, 2)
    training = build_fusion(TINY.width, 32, data).members[0]
    assert_equal(training, PlainAdaptiveAttention, next(iter(training.batches(torch.Generator()))))


def test_plain_hop_attention() -> None:
    training = hop_training(1)
    assert_equal(training, PlainHopAttention, next(iter(training.batches(torch.Generator()))))


def assert_equal(training: Training, plain: Any, batch: Batch) -> None:
    ids = (batch.premise, batch.premise_mask, batch.hypothesis, batch.hypothesis_mask)
    logits, cost = plain(training).eval()(*ids)
    prediction = training.model.eval()(batch)
    torch.testing.assert_close(logits, prediction.logits)
    torch.testing.assert_close(cost, prediction.ponder_cost)
    assert cost.std() > 0.01


@pytest.mark.parametrize("cell", ["rnn", "lstm"])
def test_plain_act_rnn(cell: str) -> None:
    settings = RNN_SETTINGS | {"cell": cell, "state_size": 6, "updates_per_epoch": 1}
    config = build_sequence_trial("parity", "act", settings, max_epochs=1, patience=0, seed=1)
    training = SequenceTraining(config)
    (batch,) = training.batches(training.epoch_generator)
    odds, cost = PlainActRnn(training)(batch.inputs[:, 0])
    pondered = training.model(batch.inputs, batch.mask)
    torch.testing.assert_close(odds, pondered.logits[:, 0, 0])
    torch.testing.assert_close(cost, pondered.ponder_cost[:, 0])
    assert cost.std() > 0.01
