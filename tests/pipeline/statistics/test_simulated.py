"""How often `compare` finds a significant difference if there is none, and if there is one."""

import numpy as np
import pytest

from pipeline.statistics.paired import Hits, compare

PREMISES, EACH, REPETITIONS = 300, 3, 600
GROUPS = np.repeat(np.arange(PREMISES), EACH)

pytestmark = pytest.mark.slow


def drawn(generator: np.random.Generator, of_seeds: Hits, of_pairs: Hits) -> Hits:
    """Draw hits [seeds, pairs] with probability logistic(seed + pair), about 80 %."""
    chance = 1 / (1 + np.exp(-(1.6 + of_seeds[:, None] + of_pairs)))
    return (generator.random(chance.shape) < chance).astype(float)


def cleared(seeds: int, spread: float, gap: float, *, seeds_paired: bool) -> float:
    """Return the share of repetitions with a significant difference.

    Pairs are harder and easier by themselves and by their premise, for each model in its own way
    too; seeds are better and worse by `spread` logits (1 is some 15 points of accuracy).
    """
    generator, result = np.random.default_rng(2016), 0
    for _ in range(REPETITIONS):

        def pairs() -> Hits:
            return np.repeat(generator.normal(0, 0.7, PREMISES), EACH) + generator.normal(
                0, 0.7, PREMISES * EACH
            )

        both = pairs()
        ours = generator.normal(0, spread, seeds)
        theirs = ours if seeds_paired else generator.normal(0, spread, seeds)
        own = generator.normal(0, spread / 4, seeds) if seeds_paired else 0.0
        reference = drawn(generator, theirs, both + pairs())
        other = drawn(generator, ours + own + gap, both + pairs())
        p = compare(reference, other, GROUPS, seeds_paired=seeds_paired).p
        result += p is not None and p < 0.05
    return result / REPETITIONS


@pytest.mark.parametrize("seeds", [2, 3, 5])
@pytest.mark.parametrize("spread", [0.02, 0.2, 1.0])
@pytest.mark.parametrize("seeds_paired", [False, True])
def test_type_one_errors_are_at_most_six_percent(
    seeds: int, spread: float, seeds_paired: bool
) -> None:
    share = cleared(seeds, spread, 0.0, seeds_paired=seeds_paired)
    # two standard errors of 600 repetitions are 0.018
    assert share <= 0.06 + 0.018


def test_a_difference_of_eight_points_is_mostly_significant() -> None:
    """With three seeds that differ by a point."""
    assert cleared(3, 0.05, 0.6, seeds_paired=False) > 0.8
