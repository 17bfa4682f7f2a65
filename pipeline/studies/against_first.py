"""Runs on the test split beside the first run of their group."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline.measures.over_seeds import Row, grouped
from pipeline.measures.paired import Comparison, Hits, compare


def compared(
    rows: Sequence[Row],
    hits: Sequence[Hits],
    outer: str,
    inner: str,
    resamples: int,
    *,
    seeds_paired: bool,
) -> list[tuple[list[Row], Comparison]]:
    """Each run's rows, and its test hits beside those of the first run of its group.

    Args:
        hits: [pairs] of each row. seeds_paired: runs of one seed have something in common.
    """
    of_row = {id(row): hit for row, hit in zip(rows, hits, strict=True)}
    first: dict[Any, Hits] = {}
    found = []
    for (group, _), own in grouped(rows, outer, inner).items():
        these = np.stack([of_row[id(row)] for row in own])
        reference = first.setdefault(group, these)
        paired = seeds_paired or reference is these
        found.append((own, compare(reference, these, resamples, seed=0, seeds_paired=paired)))
    return found
