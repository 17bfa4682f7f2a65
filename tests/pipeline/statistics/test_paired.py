"""Paired tests against manual calculations, theory, and scipy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from actmodels.tables import COLUMNS
from pipeline.statistics.paired import (
    Groups,
    Hits,
    against_first,
    compare,
    paired_rows,
    prediction_hits,
)
from studies.cloze.tables import COLUMNS as RUNS
from tests.pipeline.project import transcribe


def alone(pairs: int) -> Groups:
    """Return groups of one pair each."""
    return np.arange(pairs)


def test_equal_models_do_not_differ() -> None:
    hits = np.random.default_rng(0).integers(0, 2, (4, 50)).astype(float)
    assert compare(hits, hits, alone(50))[:4] == (0.0, 0.0, 0.0, None)
    for pairs in (1, 2):  # without variance there is no p
        without = compare(np.zeros((2, pairs)), np.ones((2, pairs)), alone(pairs))
        assert without == (1.0, 1.0, 1.0, None, pairs)


def test_by_hand() -> None:
    """Two seeds, three pairs in two groups: worked out on paper.

    Gains by pair, mean over seeds: 1, 1/2, 0; mean 1/2. By group about it: 1/2 and -1/2, so
    (1/4 + 1/4) * 2 / 9 = 1/9 with 1 degree of freedom. By seed: 2/3 and 1/3, so 1/18 / 2 = 1/36
    with 1. Together 5/36; (5/36)^2 / ((1/9)^2 + (1/36)^2) = 25/17 degrees of freedom.
    """
    reference = np.zeros((2, 3))
    other = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    result = compare(reference, other, np.array([7, 3, 3]))
    error, freedom = (5 / 36) ** 0.5, 25 / 17
    assert result.difference == pytest.approx(0.5)
    assert result.high - 0.5 == pytest.approx(student.isf(0.025, freedom) * error)
    assert result.p == pytest.approx(2 * student.sf(0.5 / error, freedom))


def test_seeds_that_are_not_paired_widen_the_interval() -> None:
    """Two models whose seeds are correlated by chance; in theory the variances add up."""
    of_seeds = np.array([0.6, 0.7, 0.8, 0.9])
    draws = (np.arange(1000) + 0.5) / 1000  # seed s is right on a share of the pairs
    reference = (draws < of_seeds[:, None] - 0.1).astype(float)
    other = (draws < of_seeds[:, None]).astype(float)
    together = compare(reference, other, alone(1000))
    apart = compare(reference, other, alone(1000), seeds_paired=False)
    assert together.difference == apart.difference == pytest.approx(0.1)
    assert together.high - together.low < 0.06  # by the pairs alone
    # of a mean of four: sd / sqrt(4) = 0.1291 / 2; of a difference sqrt(2) as much; and 3 + 3
    # degrees of freedom
    width = 2 * student.isf(0.025, 6) * 0.1291 / 2 * 2**0.5
    assert apart.high - apart.low == pytest.approx(width, rel=0.02)


def test_pairs_of_one_premise_widen_the_interval() -> None:
    """Three copies of each pair add no information: sqrt(3) as wide."""
    generator = np.random.default_rng(3)
    other = np.repeat((generator.random((1, 2000)) < 0.5).astype(float), 3, axis=1)
    reference = np.zeros_like(other)
    groups = np.repeat(alone(2000), 3)
    widths = [c.high - c.low for c in (compare(reference, other, g) for g in (alone(6000), groups))]
    assert widths[1] / widths[0] == pytest.approx(3**0.5, rel=0.01)


IDS = ["a", "b", "c", "d"]
GROUPS = alone(4)


def hits(right: str, ids: list[str] = IDS) -> Hits:
    """`right`: y, n or - (not scored) for each pair, in reverse order."""
    predicted, row = {"y": "neutral", "n": "entailment"}, {"model": "m", "label": "neutral"}
    scored = [(i, r) for i, r in zip(IDS, right, strict=True) if r != "-"]
    rows = [row | {"pair_id": i, "predicted": predicted[r]} for i, r in scored[::-1]]
    return prediction_hits(rows, ids)


def test_runs_are_paired_by_seed_and_pair(golden: Callable[..., None]) -> None:
    """A deterministic model is compared with every seed; other models by their common seeds."""

    def paired(**models: dict[int, str]) -> list[str]:
        by_seed = {m: {seed: hits(right) for seed, right in of.items()} for m, of in models.items()}
        rows = [*paired_rows(by_seed, "base", GROUPS)]
        assert all(list(row) == COLUMNS["evaluate/paired.csv"].split() for row in rows)
        return [*map(shown, rows)]

    def shown(row: dict[str, Any]) -> str:
        return ", ".join(
            f"{k} {v:.6g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()
        )

    def compared(*arguments: Any, **options: Any) -> str:
        return shown(compare(*arguments, GROUPS, **options)._asdict())

    names = {"hits": hits, "paired": paired, "compared": compared, "np": np}
    transcribe(golden, "paired.txt", names)


@pytest.mark.parametrize("seeds_paired", [False, True])
def test_runs_are_compared_with_the_first_of_their_group(seeds_paired: bool) -> None:
    results = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 1, 0], [1, 1, 0, 0]], dtype=float)
    base = {"questions": "NE", "strategy": "s", "dev_accuracy": 0.5, "test_mean_steps": None}
    named = zip((1, 1, 2, 2), results, strict=True)
    rows = [
        base | {"run": f"{n}", "steps": n, "test_accuracy": h.mean(), "hits": h} for n, h in named
    ]
    kept, groups = ("strategy", "steps"), {"NE": np.array([1, 1, 2, 3])}
    both = against_first(rows, "questions", "run", groups, *kept, seeds_paired=seeds_paired)
    assert [list(row) for row in both] == [RUNS["runs.csv"].split()] * 2
    first, other = both
    assert (first["difference"], first["low"], first["high"], first["p"]) == (0, 0, 0, None)
    assert (other["difference"], other["test_accuracy_mean"]) == pytest.approx((0.375, 0.625))
    test = compare(results[:2], results[2:], groups["NE"], seeds_paired=seeds_paired)
    assert other.items() >= test._asdict().items() and test.low < 0.375 < test.high
    assert (other["run"], other["steps"], other["seeds"], other["pairs"]) == ("2", 2, 2, 4)
