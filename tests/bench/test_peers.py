"""The plain models compute what the project's models compute."""

from typing import Any

import pytest
import torch

from actmodels.data.pairs import collate
from actmodels.sequences.config import build_sequence_trial
from actmodels.sequences.training import SequenceTraining
from actmodels.training import Training
from bench.peers import PlainActRnn, PlainDecomposableAttention
from bench.training import RNN_SETTINGS
from bench.work import TINY, drawn_data, trial


def test_decomposable_attention() -> None:
    config = trial(TINY.width, 8, model="decomposable_attention", optimizer="adam")
    training = Training(config, drawn_data(TINY))
    model = training.model.eval()
    vectors: Any = model.words.vectors
    plain = PlainDecomposableAttention(vectors, TINY.width, 0.1).eval()
    for parameter, value in zip(
        (p for p in plain.parameters() if p.requires_grad), model.parameters(), strict=True
    ):
        parameter.data.copy_(value)
    batch = collate(training.train, torch.arange(8), null_token=False)
    ids = (batch.premise, batch.premise_mask, batch.hypothesis, batch.hypothesis_mask)
    torch.testing.assert_close(plain(*ids), model(batch).logits)


@pytest.mark.parametrize("cell", ["rnn", "lstm"])
def test_act_rnn(cell: str) -> None:
    settings = RNN_SETTINGS | {"cell": cell, "state_size": 6, "updates_per_epoch": 1}
    config = build_sequence_trial("parity", "act", settings, max_epochs=1, patience=0, seed=1)
    training = SequenceTraining(config)
    (batch,) = training.batches(training.epoch_generator)
    odds, cost = PlainActRnn(training)(batch.inputs[:, 0])
    pondered = training.model(batch.inputs, batch.mask)
    torch.testing.assert_close(odds, pondered.logits[:, 0, 0])
    torch.testing.assert_close(cost, pondered.ponder_cost[:, 0])
    assert cost.std() > 0.01
