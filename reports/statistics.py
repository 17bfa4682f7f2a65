"""Means over seeds with their spread, Student's t intervals, and Holm's correction."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import t

LEVEL = 0.05  # two-sided
NEGLIGIBLE = 1e-9  # a smaller difference is rounding
DECIMALS = 12  # so that 0.82 - 0.8 is 0.02 and equal means differ by 0


def mean_sd(frame: pd.DataFrame, by: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Aggregate columns over the rows of each group, such as the seeds of a model.

    Args:
        by: columns that tell groups apart; groups keep their stored order.

    Returns:
        one row per group: `by`, then `<column>_mean`, `<column>_sd` (sample, n - 1) and
        `<column>_n` of each column, without its empty cells; the sd of one value is empty.
    """
    grouped = frame.groupby(list(by), sort=False, dropna=False)[list(columns)]
    parts = {"mean": grouped.mean(), "sd": grouped.std(ddof=1), "n": grouped.count()}
    joined = pd.DataFrame(
        {f"{name}_{part}": values[name] for name in columns for part, values in parts.items()}
    )
    return joined.round(DECIMALS).reset_index()


def t_interval(mean: float, sd: float, n: int) -> dict[str, float]:
    """Return a mean difference over n seeds with its 95 % interval and two-sided p.

    Returns:
        difference, low, high and p; with one seed no p and an interval without width.
    """
    if not n > 1:
        return {"difference": mean, "low": mean, "high": mean, "p": np.nan}
    error = sd / np.sqrt(n)
    if error == 0:
        return {"difference": mean, "low": mean, "high": mean, "p": float(abs(mean) < NEGLIGIBLE)}
    margin = t.ppf(1 - LEVEL / 2, n - 1) * error
    p = 2 * t.sf(abs(mean / error), n - 1)
    return {"difference": mean, "low": mean - margin, "high": mean + margin, "p": float(p)}


def holm(p: "pd.Series[float]") -> "pd.Series[float]":
    """Adjust p-values for their number (Holm 1979); those that are missing do not count."""
    known = p.dropna().sort_values()
    factors = np.arange(len(known), 0, -1)
    adjusted = np.minimum(np.maximum.accumulate(known.to_numpy() * factors), 1)
    return pd.Series(adjusted, index=known.index, dtype=float).reindex(p.index)


def verdicts(frame: pd.DataFrame, p: str = "p_adjusted") -> "pd.Series[str]":
    """Say of each difference whether it is significant at 5 %, and in which direction."""
    significant = (frame[p] <= LEVEL) & (frame["difference"].abs() > NEGLIGIBLE)
    direction = np.where(frame["difference"] > 0, "significantly above", "significantly below")
    said = np.where(significant, direction, "not significant")
    return pd.Series(np.where(frame[p].isna(), "one seed: no test", said), index=frame.index)
