"""The encoder against the cell run by hand, and what the thesis says of it."""

import pytest
import torch
from torch import Tensor

from actmodels.modules.recurrent import GRUCell, GRUEncoder
from tests import model_checks
from tests.samples import SETTINGS, sample_batch, sample_sentences, sample_trial

INPUTS, SIZE = 5, 4
LENGTHS = (6, 1, 4)
both_ways = pytest.mark.parametrize("bidirectional", [False, True])


def encoder(*, bidirectional: bool) -> GRUEncoder:
    torch.manual_seed(3)
    return GRUEncoder(INPUTS, SIZE, bidirectional=bidirectional).double()


def by_hand(cell: GRUCell, words: Tensor) -> Tensor:
    """States [tokens, size] of one unpadded sentence [tokens, inputs], one token at a time."""
    state, states = torch.zeros(1, SIZE, dtype=torch.float64), []
    for word in words:
        state = cell(word[None], state)
        states.append(state[0])
    return torch.stack(states)


@both_ways
def test_encoder_equals_the_cell_run_by_hand(bidirectional: bool) -> None:
    words, mask = sample_sentences(LENGTHS, INPUTS)
    gru = encoder(bidirectional=bidirectional)
    encoded = gru(words, mask)
    for row, length in enumerate(LENGTHS):
        sentence = words[row, :length]
        expected = [by_hand(gru.forwards, sentence)]
        if gru.backwards is not None:
            expected.append(by_hand(gru.backwards, sentence.flip(0)).flip(0))
        torch.testing.assert_close(encoded[row, :length], torch.cat(expected, dim=1))


@both_ways
def test_padding_takes_no_part_in_gradients(bidirectional: bool) -> None:
    words, mask = sample_sentences(LENGTHS, INPUTS)
    words.requires_grad_()
    encoded = encoder(bidirectional=bidirectional)(words, mask)
    (encoded * mask[:, :, None]).square().sum().backward()
    assert torch.equal(words.grad.abs().sum(dim=2) > 0, mask)


@both_ways
@pytest.mark.parametrize("shared", [False, True])
def test_encoders_of_premise_and_hypothesis(bidirectional: bool, shared: bool) -> None:
    config = sample_trial("iterative_attention", bidirectional=bidirectional, shared_encoder=shared)
    model, batch = model_checks.make(config), sample_batch()
    same = batch._replace(premise=batch.hypothesis, premise_mask=batch.hypothesis_mask)
    memories = model.memories(same)
    assert memories.premise.shape == memories.hypothesis.shape
    assert memories.premise.shape[2] == SETTINGS["encoder_size"] * (2 if bidirectional else 1)
    assert torch.equal(memories.premise, memories.hypothesis) == shared
