"""Means over seeds with their spread, Student's t intervals, and Holm's correction."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

LEVEL = 0.05  # two-sided
NEGLIGIBLE = 1e-9  # a smaller difference is rounding
DECIMALS = 12  # so that 0.82 - 0.8 is 0.02 and equal means differ by 0


def mean_sd(
    frame: pd.DataFrame,
    by: Sequence[str],
    columns: Sequence[str],
    first: Sequence[str] = (),
    total: Sequence[str] = (),
) -> pd.DataFrame:
    """Aggregate columns over the rows of each group, such as the seeds of a model.

    Groups keep their stored order.

    Returns:
        one row per group: `by`, then `<column>_mean`, `<column>_sd` (sample, n - 1) and
        `<column>_n` of each column, without its empty cells; the sd of one value is empty; then
        the `first` value or the `total` of further columns.
    """
    grouped = frame.groupby(list(by), sort=False, dropna=False)
    kept = grouped[list(columns)]
    parts = {"mean": kept.mean(), "sd": kept.std(ddof=1), "n": kept.count()}
    joined = pd.DataFrame(
        {f"{name}_{part}": values[name] for name in columns for part, values in parts.items()}
        | {name: grouped[name].first() for name in first}
        | {name: grouped[name].sum() for name in total}
    )
    return joined.round(DECIMALS).reset_index()


def wide(frame: pd.DataFrame, by: Sequence[str], across: str, sort: bool = True) -> pd.DataFrame:
    """Spread rows of `mean_sd` over columns: `steps_mean` where `across` is 2 is `steps_2_mean`.

    Groups keep their stored order. sort: columns of one value across stand together.
    """
    spread = frame.pivot(index=list(by), columns=across)
    if sort:
        spread = spread[sorted(spread.columns, key=lambda column: column[1])]
    split = [(name.rpartition("_"), value) for name, value in spread.columns]
    spread.columns = [f"{what}_{value}_{part}" for (what, _, part), value in split]
    return frame[list(by)].drop_duplicates().merge(spread.reset_index(), on=list(by))


def t_interval(mean: float, sd: float, n: int) -> dict[str, float]:
    """Return a mean over n seeds with its 95 % interval and two-sided p; no p for one."""
    if not n > 1:
        return {"difference": mean, "low": mean, "high": mean, "p": np.nan}
    error = sd / np.sqrt(n)
    if error == 0:
        return {"difference": mean, "low": mean, "high": mean, "p": float(abs(mean) < NEGLIGIBLE)}
    margin = stdtrit(n - 1, 1 - LEVEL / 2) * error
    p = 2 * stdtr(n - 1, -abs(mean / error))
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
