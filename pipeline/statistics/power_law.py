"""Fit a power law with a floor to the error by number of training pairs.

    error(n) = floor + scale · n^-exponent      (Hestness et al. 2017; Rosenfeld et al. 2020)

For a fixed exponent, the best non-negative floor and scale have a closed form. So a grid search
over the exponent is enough: it needs no initial guess, and fits all bootstrap samples together.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.statistics.paired import Groups, Hits

Floats = NDArray[np.float64]
EXPONENTS = np.geomspace(0.01, 2, 400)  # published ones of language tasks: 0.05 to 0.5
MIN_SIZES = 4  # one more than the law has parameters


class PowerLawFit(NamedTuple):
    """Fitted laws, one for each bootstrap sample [samples]; n is in units of `unit` pairs."""

    floor: Floats
    scale: Floats
    exponent: Floats
    unit: int

    def error(self, pairs: Floats | int) -> Floats:
        """Return the error in [0, 1] of each sample at a number of pairs, or one number each."""
        errors: Floats = self.floor + self.scale * (pairs / self.unit) ** -self.exponent
        return errors

    @property
    def bounded(self) -> NDArray[np.bool_]:
        """Whether the exponent is at an end of its grid, or the error is constant [samples]."""
        ends: NDArray[np.bool_] = np.isin(self.exponent, EXPONENTS[[0, -1]]) | (self.scale == 0)
        return ends


def fit(pairs: Sequence[int], errors: Floats, variances: Floats) -> PowerLawFit:
    """Fit by weighted least squares.

    Args:
        pairs: numbers of training pairs [sizes].
        errors: in [0, 1] [samples, sizes].
        variances: of the mean errors [sizes]; the weights are their inverses.
    """
    unit, weights = max(pairs), 1 / variances / (1 / variances).sum()
    x = (np.array(pairs) / unit) ** -EXPONENTS[:, None]  # [exponents, sizes]
    mean_x, mean_xx = x @ weights, x**2 @ weights  # [exponents]
    mean_y, mean_xy = (errors @ weights)[:, None], (errors * weights) @ x.T  # [samples, exponents]
    scale = np.maximum(0, (mean_xy - mean_x * mean_y) / (mean_xx - mean_x**2))
    floor = mean_y - scale * mean_x
    below = floor < 0
    scale = np.where(below, np.maximum(0, mean_xy / mean_xx), scale)
    floor = np.where(below, 0, floor)
    mean_yy = (errors**2 @ weights)[:, None]
    fitted = floor**2 + 2 * floor * scale * mean_x + scale**2 * mean_xx
    best = (mean_yy - 2 * (floor * mean_y + scale * mean_xy) + fitted).argmin(axis=1)
    sample = np.arange(len(errors))
    return PowerLawFit(floor[sample, best], scale[sample, best], EXPONENTS[best], unit)


def mean_variances(hits: Sequence[Hits]) -> Floats:
    """Return the variance of each size's mean error over seeds and test pairs [sizes].

    The variance over seeds is pooled over sizes. Estimated from three seeds, it is so uncertain
    that by chance one size could outweigh all others.

    Args:
        hits: of each size: 1 correct, 0 wrong [seeds, pairs].
    """
    accuracies = [runs.mean(axis=1) for runs in hits]
    freedom = sum(len(seeds) - 1 for seeds in accuracies)
    squares = sum(float(((seeds - seeds.mean()) ** 2).sum()) for seeds in accuracies)
    pooled = squares / freedom if freedom else 0.0
    variances = []
    for runs in hits:
        seeds, pairs = runs.shape
        # one success and one failure added (Agresti & Coull 1998): never zero variance
        share = (runs.mean() * pairs + 1) / (pairs + 2)
        variances.append(pooled / seeds + share * (1 - share) / pairs)
    return np.array(variances)


def bootstrap(hits: Sequence[Hits], groups: Groups, n_bootstrap: int, seed: int) -> Floats:
    """Resample groups of test pairs, and seeds; return mean errors [samples, sizes].

    All sizes share the resampled groups, as their test pairs are the same; seeds are resampled for
    each size. Resampling k of k seeds underestimates the variance by (k - 1) / k, so distances from
    the mean are scaled up.

    Args:
        hits: see mean_variances.
        groups: the group number of each pair [pairs]; see paired.compare.
    """
    random = np.random.default_rng(seed)
    _, group = np.unique(groups, return_inverse=True)
    sizes = np.bincount(group)
    counts = random.multinomial(len(sizes), np.full(len(sizes), 1 / len(sizes)), size=n_bootstrap)
    samples = []
    for runs in hits:
        wrong = np.stack([np.bincount(group, 1 - run) for run in runs])
        errors = counts @ wrong.T / (counts @ sizes)[:, None]  # [samples, seeds]
        seeds, mean = len(runs), errors.mean(axis=1)
        drawn = random.integers(seeds, size=(n_bootstrap, seeds))
        resampled = np.take_along_axis(errors, drawn, axis=1).mean(axis=1)
        samples.append(mean + (resampled - mean) * (seeds / max(1, seeds - 1)) ** 0.5)
    return np.stack(samples, axis=1)
