"""Mean and sd over seeds, and Student's t confidence intervals."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from reports import format as fmt

LEVEL = 0.05  # two-sided; family-wise error rate of corrected p-values
NEGLIGIBLE = 1e-9  # smaller differences are rounding errors
UNTESTED = "no test: one seed, or no variance"
DECIMALS = 12  # so that 0.82 - 0.8 is 0.02 and equal means differ by 0
Name = TypeVar("Name")


def mean_sd(
    frame: pd.DataFrame,
    by: Sequence[str],
    columns: Sequence[str],
    first: Sequence[str] = (),
    total: Sequence[str] = (),
) -> pd.DataFrame:
    """Aggregate columns over the rows of each group, such as the seeds of a model.

    Returns:
        One row per group, in file order: `by`; `<column>_mean`, `<column>_sd` (sample, n - 1,
        missing for one value) and `<column>_n` of each column, ignoring missing values; the
        `first` value or the `total` of further columns.
    """
    grouped = frame.groupby(list(by), sort=False, dropna=False)
    selected = grouped[list(columns)]
    parts = {"mean": selected.mean(), "sd": selected.std(ddof=1), "n": selected.count()}
    result = pd.DataFrame(
        {f"{name}_{part}": values[name] for name in columns for part, values in parts.items()}
        | {name: grouped[name].first() for name in first}
        | {name: grouped[name].sum() for name in total}
    )
    return result.round(DECIMALS).reset_index()


def levels(values: "pd.Series[Any]", most: int = 8) -> "pd.Series[str]":
    """Return the values of a setting as text; for more than `most` numbers the quarter of each.

    A search over a range trains each value once; a mean needs several trials.
    """
    if values.nunique() <= most or not pd.api.types.is_numeric_dtype(values):
        return values.map(fmt.setting)
    quarters = pd.qcut(values, 4, duplicates="drop")
    ends = values.groupby(quarters, observed=True).agg(["min", "max"])
    names = ends["min"].map(fmt.setting) + " to " + ends["max"].map(fmt.setting)
    return quarters.map(names).astype(object)


def wide(frame: pd.DataFrame, by: Sequence[str], across: str, sort: bool = True) -> pd.DataFrame:
    """Pivot a `mean_sd` frame: `steps_mean` where `across` is 2 becomes `steps_2_mean`.

    Groups keep their order. sort: group the new columns by the value of `across`.
    """
    pivot = frame.pivot(index=list(by), columns=across)
    if sort:
        pivot = pivot[sorted(pivot.columns, key=lambda column: column[1])]
    split = [(name.rpartition("_"), value) for name, value in pivot.columns]
    pivot.columns = [f"{column}_{value}_{part}" for (column, _, part), value in split]
    return frame[list(by)].drop_duplicates().merge(pivot.reset_index(), on=list(by))


def t_interval(mean: float, sd: float, n: int) -> dict[str, float]:
    """Return mean, 95 % CI and two-sided p of n seeds; no p for n = 1, or without variance."""
    error = sd / np.sqrt(n)
    if not (n > 1 and error > 0):
        return {"difference": mean, "low": mean, "high": mean, "p": np.nan}
    margin = stdtrit(n - 1, 1 - LEVEL / 2) * error
    p = 2 * stdtr(n - 1, -abs(mean / error))
    return {"difference": mean, "low": mean - margin, "high": mean + margin, "p": float(p)}


def accuracy_interval(mean: float, sd: float, n: int) -> tuple[float, float]:
    """Return the 95 % CI of a mean accuracy over n seeds in %, without impossible accuracies."""
    ends = t_interval(mean, sd, n)
    return max(0.0, 100 * ends["low"]), min(100.0, 100 * ends["high"])


def verdicts(frame: pd.DataFrame, p: str = "p_adjusted") -> "pd.Series[str]":
    """Classify each difference as significant at the 5 % level, with its direction, or not."""
    significant = (frame[p] <= LEVEL) & (frame["difference"].abs() > NEGLIGIBLE)
    direction = np.where(frame["difference"] > 0, "significantly above", "significantly below")
    tested = np.where(significant, direction, "not significant")
    return pd.Series(np.where(frame[p].isna(), UNTESTED, tested), index=frame.index)


def holm(p: Mapping[Name, float]) -> dict[Name, float]:
    """Adjust p-values for multiple tests (Holm 1979)."""
    adjusted: dict[Name, float] = {}
    lowest = 0.0
    for rank, name in enumerate(sorted(p, key=p.__getitem__)):
        lowest = adjusted[name] = min(1.0, max(lowest, p[name] * (len(p) - rank)))
    return adjusted
