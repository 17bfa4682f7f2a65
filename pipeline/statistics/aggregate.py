"""Figures over the seeds of runs, by the two labels that tell runs apart: group, and run in it."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from pipeline.runtime.results import TableRow
from tune.selection import sample_sd


def grouped(
    rows: Iterable[TableRow], outer: str, inner: str
) -> dict[tuple[Any, Any], list[TableRow]]:
    """Return the rows of each run, over its seeds."""
    groups: dict[tuple[Any, Any], list[TableRow]] = {}
    for row in rows:
        groups.setdefault((row[outer], row[inner]), []).append(row)
    return groups


def spread(rows: Sequence[TableRow], name: str) -> TableRow:
    """Return mean and sample standard deviation over seeds."""
    values = [row[name] for row in rows]
    return {f"{name}_mean": statistics.fmean(values), f"{name}_sd": sample_sd(values)}


def mean(rows: Sequence[TableRow], name: str) -> float | None:
    """Return the mean over the seeds that have the figure; None where none has."""
    values = [row[name] for row in rows if row[name] is not None]
    return statistics.fmean(values) if values else None


def summarise(rows: Iterable[TableRow], outer: str, inner: str, *kept: str) -> TableRow:
    """Return the `kept` figures of each row under its two labels, as a metric file holds them."""
    summary: TableRow = {}
    for row in rows:
        summary.setdefault(row[outer], {})[row[inner]] = {name: row[name] for name in kept}
    return summary
