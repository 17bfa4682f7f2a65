"""The recurrent models of the literature against slow loops."""

import pytest
import torch
from torch import Tensor, nn

from actmodels.data.pairs import NULL
from actmodels.models.conditional import (
    ConditionalEncoder,
    EncodedPair,
    PremiseAttention,
    RecurrentPremiseAttention,
    delimited,
)
from actmodels.modules.recurrent import FORGET_BIAS, LSTM, GRUCell, LSTMState
from tests.model_checks import make
from tests.samples import SETTINGS, sample_batch, sample_sentences, sample_trial

LENGTHS = [4, 1, 6, 3]


def torch_lstm(lstm: LSTM) -> nn.LSTM:
    """torch.nn.LSTM with the same parameters; its gates are i, f, g, o and it has two biases."""
    theirs = nn.LSTM(lstm.input.in_features, lstm.state, batch_first=True).double()

    def reordered(rows: Tensor) -> Tensor:
        write, keep, read, candidate = rows.chunk(4)
        return torch.cat([write, keep, candidate, read])

    bias = lstm.input.bias.detach().clone()
    bias[lstm.state : 2 * lstm.state] += FORGET_BIAS
    theirs.load_state_dict(
        {
            "weight_ih_l0": reordered(lstm.input.weight.detach()),
            "weight_hh_l0": reordered(lstm.recurrent.weight.detach()),
            "bias_ih_l0": reordered(bias),
            "bias_hh_l0": torch.zeros(4 * lstm.state),
        }
    )
    return theirs


def test_lstm_equals_that_of_torch_on_each_unpadded_sentence() -> None:
    lstm, (words, mask) = LSTM(5, 3).double(), sample_sentences(LENGTHS, 5)
    start = LSTMState(*torch.randn(2, len(LENGTHS), 3, dtype=torch.float64))
    outputs, end = lstm(words, mask, start)
    theirs = torch_lstm(lstm)
    for row, length in enumerate(LENGTHS):
        hidden, cell = start.hidden[row][None], start.cell[row][None]
        alone, (last, last_cell) = theirs(words[row, :length], (hidden, cell))
        torch.testing.assert_close(outputs[row, :length], alone)
        torch.testing.assert_close(end.hidden[row], last[0])
        torch.testing.assert_close(end.cell[row], last_cell[0])
        for carried in outputs[row, length:]:
            assert torch.equal(carried, end.hidden[row])


def test_the_delimiter_follows_the_last_token() -> None:
    ids = torch.tensor([[7, 8, 9], [5, 0, 0]])
    assert delimited(ids, ids > 0).tolist() == [[7, 8, 9, NULL], [5, NULL, 0, 0]]


def test_the_second_lstm_starts_from_the_cell_of_the_first() -> None:
    """Each pair alone, by torch's LSTM: premise and delimiter, then the hypothesis from (0, c)."""
    reader = ConditionalEncoder(3).double()
    premise, with_delimiter = sample_sentences(LENGTHS, 3)
    hypothesis, one_more = sample_sentences([2, 5, 1, 4], 3)
    premise_mask, hypothesis_mask = with_delimiter[:, 1:], one_more[:, 1:]
    reading = reader(premise, premise_mask, hypothesis, hypothesis_mask)
    first, second = torch_lstm(reader.premise), torch_lstm(reader.hypothesis)
    for row in range(len(LENGTHS)):
        words = int(premise_mask[row].sum())
        outputs, (_, cell) = first(premise[row, : words + 1])
        torch.testing.assert_close(reading.premise[row, :words], outputs[:words])
        length = int(hypothesis_mask[row].sum())
        if length:
            start = (torch.zeros_like(cell), cell)
            outputs, (last, _) = second(hypothesis[row, :length], start)
            torch.testing.assert_close(reading.hypothesis[row, :length], outputs)
            torch.testing.assert_close(reading.last[row], last[0])


def slow_weights(attention: PremiseAttention, added: Tensor, words: list[Tensor]) -> list[float]:
    """Softmax over w · tanh(W_y y_i + added), one word at a time."""
    scores = []
    for word in words:
        inner = torch.tanh(attention.keys.weight @ word + added)
        scores.append((attention.score.weight[0] @ inner).exp())
    return [float(score / sum(scores)) for score in scores]


def mixed(weights: list[float], words: list[Tensor]) -> Tensor:
    return sum((w * y for w, y in zip(weights, words, strict=True)), torch.zeros_like(words[0]))


def read_pair() -> EncodedPair:
    """Outputs of sentences of several lengths, with nonzero padding."""
    premise, mask = sample_sentences(LENGTHS, 3)
    hypothesis, hypothesis_mask = sample_sentences([2, 5, 1, 4], 3)
    last = torch.randn(len(LENGTHS), 3, dtype=torch.float64)
    return EncodedPair(premise, mask, hypothesis, hypothesis_mask, last)


@torch.no_grad()
def test_word_by_word_attention_equals_a_slow_loop() -> None:
    module, pair = RecurrentPremiseAttention(3).double(), read_pair()
    attended = module(pair)
    w_r, w_t = module.recurrent.weight.chunk(2)
    for row, length in enumerate(LENGTHS):
        words, before = list(pair.premise[row, :length]), torch.zeros(3, dtype=torch.float64)
        for word in pair.hypothesis[row][pair.hypothesis_mask[row]]:
            added = module.attention.query.weight @ word + w_r @ before
            expected = slow_weights(module.attention, added, words)
            before = mixed(expected, words) + torch.tanh(w_t @ before)
        torch.testing.assert_close(attended[row], before)


INPUTS, SIZE = 5, 4
READ = (6, 1, 4)


def test_a_gru_over_sentences_equals_the_cell_run_by_hand() -> None:
    cell = GRUCell(INPUTS, SIZE).double()
    words, mask = sample_sentences(READ, INPUTS)
    states = cell.read(words.requires_grad_(), mask)
    (states * mask[:, :, None]).square().sum().backward()
    assert torch.equal(words.grad.abs().sum(dim=2) > 0, mask)  # not of padding
    for row, length in enumerate(READ):
        state = torch.zeros(1, SIZE, dtype=torch.float64)
        for position, word in enumerate(words[row, :length]):
            state = cell(word[None], state)
            torch.testing.assert_close(states[row, position], state[0])


@pytest.mark.parametrize("shared", [False, True])
def test_encoders_of_premise_and_hypothesis(shared: bool) -> None:
    model, batch = make(sample_trial("iterative_attention", shared_encoder=shared)), sample_batch()
    same = batch._replace(premise=batch.hypothesis, premise_mask=batch.hypothesis_mask)
    memory = model.encode(same)
    assert memory.premise.shape == memory.hypothesis.shape
    assert memory.premise.shape[2] == SETTINGS["encoder_size"]
    assert torch.equal(memory.premise, memory.hypothesis) == shared
