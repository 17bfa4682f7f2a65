"""Error by number of training pairs: a power law above a floor.

    error(n) = floor + scale · n^-exponent      (Hestness et al. 2017; Rosenfeld et al. 2020)

For one exponent the best floor and scale, neither below zero, are a formula; so all exponents of a
fine grid are tried, for every draw of a bootstrap together, and no start has to be guessed.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.statistics.paired import Groups, Hits

Floats = NDArray[np.float64]
EXPONENTS = np.geomspace(0.01, 2, 400)  # published ones of language tasks: 0.05 to 0.5
LEAST_SIZES = 4  # one more than the law has numbers


class PowerLaw(NamedTuple):
    """Laws, one for each draw, with n in units of `unit` pairs."""

    floor: Floats
    scale: Floats
    exponent: Floats
    unit: int

    def error(self, pairs: Floats | int) -> Floats:
        """Return errors in [0, 1] at numbers of pairs, one or one for each draw."""
        of_draws: Floats = self.floor + self.scale * (pairs / self.unit) ** -self.exponent
        return of_draws

    @property
    def bounded(self) -> NDArray[np.bool_]:
        """Whether the exponent is the least or the largest that was tried, or nothing falls."""
        ends = (self.exponent == EXPONENTS[0]) | (self.exponent == EXPONENTS[-1])
        found: NDArray[np.bool_] = ends | (self.scale == 0)
        return found


def fit(pairs: Sequence[int], errors: Floats, variances: Floats) -> PowerLaw:
    """Fit by the least sum of squares, each over its variance.

    Args:
        pairs: [sizes]. errors: in [0, 1], [draws, sizes]. variances: of their means [sizes].
    """
    unit, weights = max(pairs), 1 / variances / (1 / variances).sum()
    x = (np.array(pairs) / unit) ** -EXPONENTS[:, None]  # [exponents, sizes]
    mean_x, mean_xx = x @ weights, x**2 @ weights  # [exponents]
    mean_y, mean_xy = (errors @ weights)[:, None], (errors * weights) @ x.T  # [draws, exponents]
    scale = np.maximum(0, (mean_xy - mean_x * mean_y) / (mean_xx - mean_x**2))
    floor = mean_y - scale * mean_x
    below = floor < 0
    scale = np.where(below, np.maximum(0, mean_xy / mean_xx), scale)
    floor = np.where(below, 0, floor)
    mean_yy = (errors**2 @ weights)[:, None]
    fitted = floor**2 + 2 * floor * scale * mean_x + scale**2 * mean_xx
    best = (mean_yy - 2 * (floor * mean_y + scale * mean_xy) + fitted).argmin(axis=1)
    draw = np.arange(len(errors))
    return PowerLaw(floor[draw, best], scale[draw, best], EXPONENTS[best], unit)


def mean_variances(hits: Sequence[Hits]) -> Floats:
    """Return the variance of each size's mean error [sizes]: of seeds, and of test pairs.

    That of seeds is pooled over sizes: of three seeds alone it is so uncertain that one size would
    outweigh all others by chance.

    Args:
        hits: of each size, 1 right and 0 wrong [seeds, pairs].
    """
    of_seeds = [runs.mean(axis=1) for runs in hits]
    freedom = sum(len(seeds) - 1 for seeds in of_seeds)
    squares = sum(float(((seeds - seeds.mean()) ** 2).sum()) for seeds in of_seeds)
    pooled = squares / freedom if freedom else 0.0
    # as if one more of two pairs were wrong (Agresti & Coull 1998): never without variance
    shares = [(runs.mean() * runs.shape[1] + 1) / (runs.shape[1] + 2) for runs in hits]
    of_pairs = [p * (1 - p) / runs.shape[1] for p, runs in zip(shares, hits, strict=True)]
    return np.array([pooled / len(s) + own for s, own in zip(of_seeds, of_pairs, strict=True)])


def redrawn(hits: Sequence[Hits], groups: Groups, draws: int, seed: int) -> Floats:
    """Return mean errors [draws, sizes] with groups of test pairs and seeds drawn again.

    The groups are the same for all sizes, which are tested on the same pairs; seeds are drawn for
    each size. The variance of k seeds drawn out of k is too small by (k - 1) / k, which their
    distance from the mean corrects.

    Args:
        hits: see mean_variances. groups: a number for each pair [pairs] (measures.paired).
    """
    random = np.random.default_rng(seed)
    _, group = np.unique(groups, return_inverse=True)
    sizes = np.bincount(group)
    times = random.multinomial(len(sizes), np.full(len(sizes), 1 / len(sizes)), size=draws)
    found = []
    for runs in hits:
        wrong = np.stack([np.bincount(group, 1 - run) for run in runs])
        errors = times @ wrong.T / (times @ sizes)[:, None]  # [draws, seeds]
        count, mean = len(runs), errors.mean(axis=1)
        chosen = random.integers(count, size=(draws, count))
        again = np.take_along_axis(errors, chosen, axis=1).mean(axis=1)
        found.append(mean + (again - mean) * (count / max(1, count - 1)) ** 0.5)
    return np.stack(found, axis=1)
