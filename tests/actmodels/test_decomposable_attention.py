"""Intra-sentence attention, and what is made of compared words, against slow loops."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from actmodels.models.decomposable_attention import BIASES, FARTHEST, IntraAttention
from actmodels.modules.alignment import SoftAlignment
from tests import model_checks
from tests.samples import sample_batch, sample_sentences, sample_trial

MODEL = "decomposable_intra_attention"
WIDTH = 6
LENGTHS = (27, 1, 13)


@pytest.fixture
def intra() -> IntraAttention:
    """With a different bias for each distance: at its start, all of them 0, it has no order."""
    torch.manual_seed(5)
    intra = IntraAttention(WIDTH, 0.0).double()
    with torch.no_grad():
        intra.distance.copy_(torch.randn(BIASES))
    return intra


def slowly(intra: IntraAttention, words: Tensor) -> tuple[Tensor, Tensor]:
    """Weights [tokens, tokens] and words [tokens, 2 · width] of one unpadded sentence."""
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
    return weights, torch.cat([words, torch.stack(context)], dim=1)


def test_equals_a_slow_double_loop(intra: IntraAttention) -> None:
    words, mask = sample_sentences(LENGTHS, WIDTH)
    weights, wider = intra.weights(words, mask), intra(words, mask)
    assert wider.shape == (3, 27, 2 * WIDTH)
    for row, length in enumerate(LENGTHS):
        slow_weights, slow_words = slowly(intra, words[row, :length])
        torch.testing.assert_close(weights[row, :length, :length], slow_weights)
        torch.testing.assert_close(wider[row, :length], slow_words)


def test_padding_has_no_weight(intra: IntraAttention) -> None:
    words, mask = sample_sentences(LENGTHS, WIDTH)
    weights = intra.weights(words, mask)
    assert torch.equal(weights > 0, mask[:, None, :].expand_as(weights))
    torch.testing.assert_close(weights.sum(dim=2), torch.ones(3, 27, dtype=torch.float64))


def test_distances_beyond_ten_share_one_bias(intra: IntraAttention) -> None:
    buckets = intra.buckets(sample_sentences(LENGTHS, WIDTH)[0])
    offsets = torch.arange(27)[:, None] - torch.arange(27)[None, :]
    assert set(buckets[offsets.abs() > 10].tolist()) == {BIASES - 1}
    near = {offset: set(buckets[offsets == offset].tolist()) for offset in range(-10, 11)}
    assert all(len(bucket) == 1 for bucket in near.values())
    assert len(set.union(*near.values(), {BIASES - 1})) == BIASES == 2 * FARTHEST + 2


def test_a_bias_moves_weight_to_its_distance_only(intra: IntraAttention) -> None:
    """A far larger d_{-1} makes each word attend to the next one; the last has no next."""
    with torch.no_grad():
        intra.distance.zero_()
        intra.distance[FARTHEST - 1] = 60.0
    words, mask = sample_sentences(LENGTHS, WIDTH)
    weights = intra.weights(words, mask)[0]
    assert torch.equal(weights[:-1].argmax(dim=1), torch.arange(1, 27))
    assert (weights[:-1].amax(dim=1) > 0.99).all() and weights[-1].amax() < 0.99


def test_every_bias_is_trained_by_sentences_long_enough(intra: IntraAttention) -> None:
    words, mask = sample_sentences(LENGTHS, WIDTH)
    intra(words, mask).square().sum().backward()
    assert (intra.distance.grad != 0).all()


def test_word_order_counts_once_the_biases_differ() -> None:
    """All of them 0, as at the start, make a bag of words."""
    # Wide enough that no example has only dead units.
    model, batch = model_checks.make(sample_trial(MODEL, width=32)), sample_batch()
    lengths = batch.premise_mask.sum(dim=1)
    backwards = batch.premise.clone()
    for row, length in enumerate(lengths.tolist()):
        backwards[row, :length] = batch.premise[row, :length].flip(0)
    turned = batch._replace(premise=backwards)
    torch.testing.assert_close(model(batch).logits, model(turned).logits)
    with torch.no_grad():
        model.intra.distance.copy_(torch.linspace(-1, 1, BIASES))
    changed = (model(batch).logits - model(turned).logits).abs().amax(dim=1) > 1e-9
    assert torch.equal(changed, lengths > 1)


def test_the_null_token_is_one_position_before_the_first_word() -> None:
    """It has the distances of a word there, in both sentences."""
    model = model_checks.make(sample_trial(MODEL, null_token=True))
    plain, null = sample_batch(), sample_batch(null_token=True)
    with torch.no_grad():
        model.intra.distance.copy_(torch.linspace(-1, 1, BIASES))
    for ids, mask, without in (
        (null.premise, null.premise_mask, plain.premise_mask),
        (null.hypothesis, null.hypothesis_mask, plain.hypothesis_mask),
    ):
        weights = model.intra.weights(model.words(ids), mask)
        assert torch.equal(weights > 0, mask[:, None, :].expand_as(weights))
        for row, length in enumerate(without.sum(dim=1).tolist()):
            slow_weights, _ = slowly(model.intra, model.words(ids[row : row + 1, : length + 1])[0])
            torch.testing.assert_close(weights[row, : length + 1, : length + 1], slow_weights)


@pytest.mark.parametrize(
    ("model", "same"),
    [("averaged_decomposable_attention", True), ("decomposable_attention", False)],
)
def test_a_mean_does_not_tell_how_often_a_word_stands_there(model: str, same: bool) -> None:
    """Every word twice, in both sentences: each aligns as before, and is compared as before."""
    network, batch = model_checks.make(sample_trial(model)), sample_batch()
    twice = batch._replace(
        premise=batch.premise.repeat(1, 2),
        premise_mask=batch.premise_mask.repeat(1, 2),
        hypothesis=batch.hypothesis.repeat(1, 2),
        hypothesis_mask=batch.hypothesis_mask.repeat(1, 2),
    )
    once = network(batch).logits
    assert torch.allclose(network(twice).logits, once, rtol=1e-9, atol=0) is same
    assert (once.std(dim=0) > 0).all()


@pytest.mark.parametrize(
    ("model", "by_hand"),
    [
        ("decomposable_attention", lambda compare, pairs: sum(map(compare, pairs))),
        (
            "averaged_decomposable_attention",
            lambda compare, pairs: sum(map(compare, pairs)) / len(pairs),
        ),
        (
            "averaged_first_decomposable_attention",
            lambda compare, pairs: compare(sum(pairs) / len(pairs)),
        ),
    ],
)
def test_what_words_say_together_word_by_word(model: str, by_hand: Callable[..., Tensor]) -> None:
    network = model_checks.make(sample_trial(model))
    torch.manual_seed(7)
    lengths = torch.tensor([5, 1, 3])
    pairs = torch.randn(3, 5, 16, dtype=torch.float64)  # of words of width 8
    sentences = [list(row[:n]) for row, n in zip(pairs, lengths, strict=True)]
    expected = [by_hand(network.compare, words) for words in sentences]
    found = network.together(pairs, torch.arange(5) < lengths[:, None])
    torch.testing.assert_close(found, torch.stack(expected))


def test_adaptive_attention_remembers_words_compared_one_by_one() -> None:
    plain, comparing = (
        model_checks.make(sample_trial(name))
        for name in ("adaptive_attention", "comparing_adaptive_attention")
    )
    comparing.load_state_dict(plain.state_dict(), strict=False)
    pairs, found = (model.memories(sample_batch()) for model in (plain, comparing))
    for side in ("premise", "hypothesis"):
        words, memory = getattr(pairs, side), getattr(found, side)
        for place in range(words.shape[1]):
            torch.testing.assert_close(memory[:, place], comparing.compare(words[:, place]))


def test_alignment_reads_words_wider_than_its_layers() -> None:
    """Aligned words are as wide as those it is given, and are the other sentence's."""
    torch.manual_seed(6)
    alignment = SoftAlignment(2 * WIDTH, WIDTH, 0.0)
    premise, hypothesis = torch.randn(2, 5, 2 * WIDTH), torch.randn(2, 1, 2 * WIDTH)
    masks = torch.ones(2, 5, dtype=torch.bool), torch.ones(2, 1, dtype=torch.bool)
    beta, alpha = alignment(premise, hypothesis, *masks)
    torch.testing.assert_close(beta, hypothesis.expand(2, 5, 2 * WIDTH))
    assert alpha.shape == (2, 1, 2 * WIDTH)
    assert alignment.attend(premise).shape == (2, 5, WIDTH)
