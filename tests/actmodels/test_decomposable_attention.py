"""Intra-sentence attention and the aggregation of compared words, against slow loops."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from actmodels.models.decomposable_attention import BIASES, IntraAttention
from tests import model_checks
from tests.samples import sample_batch, sample_sentences, sample_trial

MODEL = "decomposable_intra_attention"
WIDTH = 6
LENGTHS = (27, 1, 13)


@pytest.fixture
def intra() -> IntraAttention:
    """With a different bias for each distance; initially all are 0."""
    torch.manual_seed(5)
    intra = IntraAttention(WIDTH, 0.0).double()
    with torch.no_grad():
        intra.distance.copy_(torch.randn(BIASES))
    return intra


def slowly(intra: IntraAttention, words: Tensor) -> Tensor:
    """Words [tokens, 2 · width] of one unpadded sentence."""
    biases = {offset: intra.distance[offset + 10].item() for offset in range(-10, 11)}
    beyond = intra.distance[21].item()
    attending, count = intra.attend(words), len(words)
    weights = torch.zeros(count, count, dtype=words.dtype)
    for i in range(count):
        scores = []
        for j in range(count):
            bias = biases.get(i - j, beyond)
            scores.append(math.exp(torch.dot(attending[i], attending[j]).item() + bias))
        for j in range(count):
            weights[i, j] = scores[j] / sum(scores)
    context = [sum(weights[i, j] * words[j] for j in range(count)) for i in range(count)]
    return torch.cat([words, torch.stack(context)], dim=1)


def test_equals_a_slow_double_loop(intra: IntraAttention) -> None:
    words, mask = sample_sentences(LENGTHS, WIDTH)
    wider = intra(words, mask)
    assert wider.shape == (3, 27, 2 * WIDTH)
    for row, length in enumerate(LENGTHS):
        torch.testing.assert_close(wider[row, :length], slowly(intra, words[row, :length]))


@pytest.mark.parametrize(
    ("model", "by_hand"),
    [
        ("decomposable_attention", lambda compare, pairs: sum(map(compare, pairs))),
        (
            "mean_pool_decomposable_attention",
            lambda compare, pairs: sum(map(compare, pairs)) / len(pairs),
        ),
        (
            "pool_first_decomposable_attention",
            lambda compare, pairs: compare(sum(pairs) / len(pairs)),
        ),
    ],
)
def test_aggregation_word_by_word(model: str, by_hand: Callable[..., Tensor]) -> None:
    network = model_checks.make(sample_trial(model))
    torch.manual_seed(7)
    lengths = torch.tensor([5, 1, 3])
    pairs = torch.randn(3, 5, 16, dtype=torch.float64)  # of words of width 8
    sentences = [list(row[:n]) for row, n in zip(pairs, lengths, strict=True)]
    expected = [by_hand(network.compare, words) for words in sentences]
    sums = network.compare_words(pairs, torch.arange(5) < lengths[:, None])
    torch.testing.assert_close(sums, torch.stack(expected))


def test_the_memory_of_compare_first_attention_word_by_word() -> None:
    plain, comparing = (
        model_checks.make(sample_trial(name))
        for name in ("adaptive_attention", "compare_adaptive_attention")
    )
    comparing.load_state_dict(plain.state_dict(), strict=False)
    pairs, compared = (model.encode(sample_batch()) for model in (plain, comparing))
    for side in ("premise", "hypothesis"):
        words, memory = getattr(pairs, side), getattr(compared, side)
        for place in range(words.shape[1]):
            torch.testing.assert_close(memory[:, place], comparing.compare(words[:, place]))
