"""Vectors from GloVe's text format, and random vectors."""

import math

import torch

from pipeline.datasets.vectors import draw_vectors

STORED = [-0.934462547, 0.751417696, -0.267764628, -0.32667461]
WORDS = ["the", "a", "café", "", "x" * 1000]


def test_a_random_vector_depends_only_on_seed_and_word() -> None:
    few = draw_vectors(WORDS, 300, seed=1, std=1.0)
    more = draw_vectors(["other", *WORDS[::-1]], 300, seed=1, std=1.0)
    assert torch.equal(few, more[1:].flip(0))
    assert not torch.isclose(few, draw_vectors(WORDS, 300, seed=2, std=1.0)).any(1).all()
    # another machine or version draws the same numbers
    drawn = draw_vectors(["the"], 4, seed=2016, std=1.0)
    torch.testing.assert_close(drawn, torch.tensor([STORED]), rtol=1e-6, atol=0)


def test_values_are_normal_and_independent() -> None:
    """Moments and the share below -1 SD are within 5 standard errors."""
    std = 0.3
    drawn = draw_vectors([str(i) for i in range(1000)], 200, seed=3, std=std).double() / std
    count = drawn.numel()
    assert drawn.isfinite().all()
    assert abs(drawn.mean().item()) < 5 / math.sqrt(count)
    assert abs(drawn.var().item() - 1) < 5 * math.sqrt(2 / count)
    assert abs((drawn < -1).double().mean().item() - 0.158655) < 5 * 0.366 / math.sqrt(count)
    correlation = torch.corrcoef(drawn.T) - torch.eye(200)  # of dimensions, then of words
    assert correlation.abs().max() < 6 / math.sqrt(1000)
    assert abs((drawn[1:] * drawn[:-1]).mean().item()) < 5 / math.sqrt(count)
