"""Paired comparisons against numbers worked by hand, theory, and scipy's own tables."""

import numpy as np
import pytest

from pipeline.measures.paired import compare, mcnemar


def test_mcnemar_by_hand() -> None:
    """One right of 1 + 5 pairs that differ: p = 2 · (1 + 6) / 2^6 = 0.21875."""
    one = np.array([1.0] + [0.0] * 5 + [1.0] * 20)
    two = np.array([0.0] + [1.0] * 5 + [1.0] * 20)
    assert mcnemar(one, two) == mcnemar(two, one) == pytest.approx(0.21875)


def test_equal_models_do_not_differ() -> None:
    hits = np.random.default_rng(0).integers(0, 2, (3, 50)).astype(float)
    found = compare(hits, hits, 100, 0)
    assert found[:4] == (0.0, 0.0, 0.0, 1.0)


def test_only_pairs_that_both_scored_count() -> None:
    """The 2016 code dropped pairs: they are no evidence for either."""
    reference = np.array([[1.0, 1.0, 0.0, 1.0]])
    other = np.array([[1.0, np.nan, 1.0, np.nan]])
    found = compare(reference, other, 100, 0)
    assert (found.difference, found.pairs) == (0.5, 2)


def test_the_interval_has_the_width_of_theory() -> None:
    """One seed, independent pairs: 2 · 1.96 · sd / sqrt(n)."""
    generator = np.random.default_rng(1)
    reference = (generator.random((1, 4000)) < 0.7).astype(float)
    other = (generator.random((1, 4000)) < 0.75).astype(float)
    found = compare(reference, other, 2000, 0)
    sd = (other - reference).std()
    assert found.high - found.low == pytest.approx(2 * 1.96 * sd / 4000**0.5, rel=0.1)
    assert found.low < found.difference < found.high
    assert found.low > 0


def test_seeds_that_disagree_widen_the_interval() -> None:
    generator = np.random.default_rng(2)
    reference = np.zeros((3, 1000))
    alike = (generator.random((3, 1000)) < 0.5).astype(float)
    unlike = (generator.random((3, 1000)) < np.array([[0.2], [0.5], [0.8]])).astype(float)
    widths = [c.high - c.low for c in (compare(reference, x, 500, 0) for x in (alike, unlike))]
    assert widths[1] > 3 * widths[0]


def test_the_same_seed_gives_the_same_interval() -> None:
    hits = np.random.default_rng(3).integers(0, 2, (4, 60)).astype(float)
    assert compare(hits[:2], hits[2:], 150, 7) == compare(hits[:2], hits[2:], 150, 7)


def test_seeds_that_are_not_paired_widen_the_interval() -> None:
    """Two models whose seeds happen to rise and fall together; theory: the variances add up."""
    of_seeds = np.array([0.6, 0.7, 0.8, 0.9])
    draws = (np.arange(1000) + 0.5) / 1000  # seed s is right on a share of the pairs
    reference = (draws < of_seeds[:, None] - 0.1).astype(float)
    other = (draws < of_seeds[:, None]).astype(float)
    together = compare(reference, other, 4000, 0)
    apart = compare(reference, other, 4000, 0, seeds_paired=False)
    assert together.difference == apart.difference == pytest.approx(0.1)
    assert together.high - together.low < 0.06  # by the pairs alone
    # of a mean of four: sd / sqrt(4) = 0.1118 / 2; of a difference sqrt(2) as much
    assert apart.high - apart.low == pytest.approx(2 * 1.96 * 0.1118 / 2 * 2**0.5, rel=0.15)
