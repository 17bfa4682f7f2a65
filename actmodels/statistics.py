"""Holm's correction of p-values."""

from collections.abc import Mapping
from typing import TypeVar

LEVEL = 0.05  # two-sided; family-wise error rate of corrected p-values
Name = TypeVar("Name")


def holm(p: Mapping[Name, float]) -> dict[Name, float]:
    """Adjust p-values for multiple tests (Holm 1979)."""
    adjusted: dict[Name, float] = {}
    lowest = 0.0
    for rank, name in enumerate(sorted(p, key=p.__getitem__)):
        lowest = adjusted[name] = min(1.0, max(lowest, p[name] * (len(p) - rank)))
    return adjusted
