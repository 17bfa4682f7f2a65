"""Aggregate rows over seeds; two columns identify a run: its group, and its name in the group."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from pipeline.runtime.results import TableRow


def grouped(
    rows: Iterable[TableRow], outer: str, inner: str
) -> dict[tuple[Any, Any], list[TableRow]]:
    """Return the rows of each run, one row per seed."""
    groups: dict[tuple[Any, Any], list[TableRow]] = {}
    for row in rows:
        groups.setdefault((row[outer], row[inner]), []).append(row)
    return groups


def sample_sd(values: Sequence[float]) -> float | None:
    """Return the sample standard deviation over seeds; None for one seed."""
    return statistics.stdev(values) if len(values) > 1 else None


def over_seeds(rows: Sequence[TableRow], *names: str) -> TableRow:
    """Return mean and sample standard deviation of columns over seeds."""
    result: TableRow = {}
    for name in names:
        values = [row[name] for row in rows]
        result |= {f"{name}_mean": statistics.fmean(values), f"{name}_sd": sample_sd(values)}
    return result


def mean(rows: Sequence[TableRow], name: str) -> float | None:
    """Return the mean of a column over the seeds that have a value; None if no seed has one."""
    values = [row[name] for row in rows if row[name] is not None]
    return statistics.fmean(values) if values else None


def summarize(rows: Iterable[TableRow], outer: str, inner: str, *kept: str) -> TableRow:
    """Return the `kept` columns of each row, nested by its two labels, for a metrics file."""
    summary: TableRow = {}
    for row in rows:
        summary.setdefault(row[outer], {})[row[inner]] = {name: row[name] for name in kept}
    return summary
