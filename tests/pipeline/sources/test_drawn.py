"""Random vectors that belong to their words."""

import math

import torch

from pipeline.sources.vectors import CHUNK_WORDS, draw_vectors

STORED = [-0.934462547, 0.751417696, -0.267764628, -0.32667461]
WORDS = ["the", "a", "café", "", "x" * 1000]


def test_a_vector_depends_on_seed_and_word_alone() -> None:
    few = draw_vectors(WORDS, 300, seed=1, std=1.0)
    others = [f"word {i}" for i in range(CHUNK_WORDS - 2)]  # the rest lies across two chunks
    more = draw_vectors(others + WORDS[::-1], 300, seed=1, std=1.0)
    assert torch.equal(few, more[-len(WORDS) :].flip(0))
    assert not torch.isclose(few, draw_vectors(WORDS, 300, seed=2, std=1.0)).any(1).all()


def test_stored_values() -> None:
    """Another machine or version draws the same numbers."""
    drawn = draw_vectors(["the"], 4, seed=2016, std=1.0)
    torch.testing.assert_close(drawn, torch.tensor([STORED]), rtol=1e-6, atol=0)


def test_values_are_normal() -> None:
    """Moments within 5 standard errors, and the share below one deviation as it should be."""
    std = 0.3
    drawn = draw_vectors([str(i) for i in range(1000)], 200, seed=3, std=std).double() / std
    count = drawn.numel()
    assert drawn.isfinite().all()
    assert abs(drawn.mean().item()) < 5 / math.sqrt(count)
    assert abs(drawn.var().item() - 1) < 5 * math.sqrt(2 / count)
    assert abs((drawn < -1).double().mean().item() - 0.158655) < 5 * 0.366 / math.sqrt(count)


def test_words_and_dimensions_are_independent() -> None:
    drawn = draw_vectors([str(i) for i in range(2000)], 50, seed=3, std=1.0).double()
    error = 5 / math.sqrt(2000)
    correlation = torch.corrcoef(drawn.T) - torch.eye(50)
    assert correlation.abs().max() < error
    assert abs((drawn[1:] * drawn[:-1]).mean().item()) < error / math.sqrt(50)


def test_no_words() -> None:
    assert draw_vectors([], 300, seed=1, std=1.0).shape == (0, 300)
