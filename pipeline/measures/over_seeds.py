"""What runs say over their seeds, by the two labels that tell them apart: group, and run in it."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from tune.selection import sample_sd

Row = dict[str, Any]


def grouped(rows: Iterable[Row], outer: str, inner: str) -> dict[tuple[Any, Any], list[Row]]:
    """The rows of each run, over its seeds."""
    groups: dict[tuple[Any, Any], list[Row]] = {}
    for row in rows:
        groups.setdefault((row[outer], row[inner]), []).append(row)
    return groups


def spread(rows: Sequence[Row], name: str) -> Row:
    """Mean and sample standard deviation over seeds."""
    values = [row[name] for row in rows]
    return {f"{name}_mean": statistics.fmean(values), f"{name}_sd": sample_sd(values)}


def mean(rows: Sequence[Row], name: str) -> float | None:
    """Over those seeds that have the figure; None where none has."""
    values = [row[name] for row in rows if row[name] is not None]
    return statistics.fmean(values) if values else None


def summarise(rows: Iterable[Row], outer: str, inner: str, kept: Sequence[str]) -> dict[str, Any]:
    """The `kept` figures of each row under its two labels, as a metric file holds them."""
    summary: dict[str, Any] = {}
    for row in rows:
        summary.setdefault(row[outer], {})[row[inner]] = {name: row[name] for name in kept}
    return summary
