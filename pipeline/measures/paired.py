"""Two models on the same pairs: is the difference more than seeds and pairs can explain?"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

Hits = NDArray[np.float64]
CHUNK = 100  # resamples at a time, which bounds memory to CHUNK x pairs numbers


class Comparison(NamedTuple):
    """A model against a reference; accuracies in [0, 1].

    difference: mean accuracy minus the reference's, over the pairs that both scored.
    low, high: 95 % interval of the paired bootstrap over seeds and pairs.
    largest_p: of the exact McNemar tests, one per seed, the largest p-value.
    pairs: how many both scored.
    """

    difference: float
    low: float
    high: float
    largest_p: float
    pairs: int


def compare(
    reference: Hits, other: Hits, resamples: int, seed: int, *, seeds_paired: bool = True
) -> Comparison:
    """Compare replicates of two models, seed by seed and pair by pair.

    Args:
        reference, other: 1 right, 0 wrong, nan not scored, [seeds, pairs]; row i of both was
            trained from the same seed.
        resamples: of the bootstrap, which draws seeds and pairs anew, both with replacement:
            few seeds give a wide interval, as they should.
        seed: of the bootstrap's own random numbers.
        seeds_paired: whether the same seed means the same start, as it does for variants of one
            model. Of models that share nothing but the number, each has its seeds drawn by itself.
    """
    scored = ~np.isnan(reference + other).any(axis=0)
    reference, other = reference[:, scored], other[:, scored]
    seeds, pairs = reference.shape
    generator = np.random.default_rng(seed)

    def drawn(places: int, count: int) -> Hits:
        """How often each place is drawn, as a share: [count, places]."""
        return generator.multinomial(places, np.full(places, 1 / places), size=count) / places

    means = []
    for start in range(0, resamples, CHUNK):
        count = min(CHUNK, resamples - start)
        of_pairs, of_seeds = drawn(pairs, count), drawn(seeds, count)
        of_others = of_seeds if seeds_paired else drawn(seeds, count)
        ours = ((of_pairs @ other.T) * of_others).sum(axis=1)
        means.append(ours - ((of_pairs @ reference.T) * of_seeds).sum(axis=1))
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    largest = max(mcnemar(reference[i], other[i]) for i in range(seeds))
    return Comparison(float((other - reference).mean()), float(low), float(high), largest, pairs)


def mcnemar(one: Hits, two: Hits) -> float:
    """The exact two-sided p-value of McNemar's test: only pairs that one got right count."""
    first, second = int(((one == 1) & (two == 0)).sum()), int(((one == 0) & (two == 1)).sum())
    if first + second == 0:
        return 1.0
    return float(binomtest(first, first + second, 0.5).pvalue)
