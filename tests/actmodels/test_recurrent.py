"""The recurrent models of the literature: budgets by arithmetic, and slow loops as oracles."""

import pytest
import torch
from torch import Tensor, nn

from actmodels.data.pairs import NULL, Batch
from actmodels.models.conditional import (
    ConditionalReader,
    PremiseAttention,
    ReadPair,
    RecurrentPremiseAttention,
    delimited,
)
from actmodels.modules.recurrent import FORGET_BIAS, LSTM, LSTMState
from tests.model_checks import make
from tests.samples import sample_batch, sample_sentences, sample_trial

CONDITIONAL = ("conditional_encoding", "conditional_attention", "word_by_word_attention")
LENGTHS = [4, 1, 6, 3]


def torch_lstm(lstm: LSTM) -> nn.LSTM:
    """Torch's own with the same parameters: its gates are i, f, g, o and it has two biases."""
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


def test_lstm_is_that_of_torch_on_each_sentence_without_padding() -> None:
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


def test_the_delimiter_stands_behind_the_last_token() -> None:
    ids = torch.tensor([[7, 8, 9], [5, 0, 0]])
    assert delimited(ids, ids > 0).tolist() == [[7, 8, 9, NULL], [5, NULL, 0, 0]]


def test_the_second_lstm_starts_from_the_cell_of_the_first() -> None:
    """Each pair alone, by torch's LSTM: premise and delimiter, then the hypothesis from (0, c)."""
    reader = ConditionalReader(3).double()
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


def read_pair() -> ReadPair:
    """Outputs of two sentences of several lengths, whose paddings are not zero."""
    premise, mask = sample_sentences(LENGTHS, 3)
    hypothesis, hypothesis_mask = sample_sentences([2, 5, 1, 4], 3)
    last = torch.randn(len(LENGTHS), 3, dtype=torch.float64)
    return ReadPair(premise, mask, hypothesis, hypothesis_mask, last)


@torch.no_grad()
def test_attention_is_that_of_a_slow_loop() -> None:
    attention, pair = PremiseAttention(3).double(), read_pair()
    attended = attention(pair)
    for row, length in enumerate(LENGTHS):
        words = list(pair.premise[row, :length])
        expected = slow_weights(attention, attention.query.weight @ pair.last[row], words)
        torch.testing.assert_close(attended[row], mixed(expected, words))


@torch.no_grad()
def test_word_by_word_attention_is_that_of_a_slow_loop() -> None:
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


@pytest.mark.parametrize("model", CONDITIONAL)
def test_two_way_is_both_directions_by_hand(model: str) -> None:
    """One-way models of the same weights, all but the output layer, of which each has its half."""
    both, batch = make(sample_trial(model, two_way=True)), sample_batch()
    swapped = Batch(*batch[2:4], *batch[:2], batch.labels, batch.rows)
    logits = both.classify.bias
    for half, read in zip(both.classify.weight.chunk(2, dim=1), (batch, swapped), strict=True):
        one = make(sample_trial(model))
        state = both.state_dict() | {
            "classify.weight": half,
            "classify.bias": torch.zeros_like(both.classify.bias),
        }
        one.load_state_dict(state)
        logits = logits + one(read).logits
    torch.testing.assert_close(both(batch).logits, logits)


@pytest.mark.parametrize("model", [*CONDITIONAL, "lstm_encoders"])
def test_dropout_is_on_inputs_and_outputs_only_in_training(model: str) -> None:
    network, batch = make(sample_trial(model, dropout=0.5)), sample_batch()
    assert torch.equal(network(batch).logits, network(batch).logits)
    seen: list[tuple[int, ...]] = []
    network.dropout.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0].shape))
    network.train()
    assert not torch.equal(network(batch).logits, network(batch).logits)
    assert {len(shape) for shape in seen} == {2, 3}  # sentences and words
