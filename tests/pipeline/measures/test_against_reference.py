"""Comparisons of tested models: who stands beside whom, by hand."""

from typing import Any

import numpy as np
import pytest

from actmodels.errors import ArtefactError
from actmodels.rows.columns import columns
from actmodels.rows.pairs import Paired
from pipeline.measures.paired import hits_by_model, mcnemar, paired_rows

IDS = ["a", "b", "c", "d"]


def row(model: str, seed: int, pair_id: str, right: bool) -> dict[str, Any]:
    predicted = "neutral" if right else "entailment"
    return {
        "model": model,
        "seed": seed,
        "pair_id": pair_id,
        "label": "neutral",
        "predicted": predicted,
    }


def rows(model: str, seed: int, right: str) -> list[dict[str, Any]]:
    """`right`: y, n or - (not scored) for each pair."""
    return [row(model, seed, i, r == "y") for i, r in zip(IDS, right, strict=True) if r != "-"]


def test_hits_stand_in_the_order_of_the_pairs_whatever_that_of_the_rows() -> None:
    found = hits_by_model(list(reversed(rows("m", 1, "yn-y"))), IDS)
    np.testing.assert_array_equal(found["m"][1], [1.0, 0.0, np.nan, 1.0])


def test_runs_are_paired_by_seed_and_pair() -> None:
    told = [*rows("base", 1, "ynny"), *rows("base", 2, "yyyy")]
    told += [*rows("other", 2, "yyyn"), *rows("other", 1, "yyyy"), *rows("third", 1, "n-ny")]
    other, third = paired_rows(hits_by_model(told, IDS), "base", 200)
    assert list(other) == columns(Paired)
    assert (other["model"], other["reference"], other["seeds"]) == ("other", "base", 2)
    assert other["difference"] == pytest.approx((2 - 1) / 8)
    assert other["pairs"] == 4
    assert other["low"] <= other["difference"] <= other["high"]
    first = mcnemar(np.array([1.0, 0, 0, 1]), np.ones(4))
    second = mcnemar(np.ones(4), np.array([1.0, 1, 1, 0]))
    assert other["largest_p"] == max(first, second)
    assert (third["seeds"], third["pairs"]) == (1, 3)
    assert third["difference"] == pytest.approx(-1 / 3)


def test_a_model_that_draws_nothing_stands_beside_every_seed() -> None:
    told = [*rows("base", 3, "ynny"), *rows("base", 5, "yyyy"), *rows("words", 0, "yyyy")]
    [words] = paired_rows(hits_by_model(told, IDS), "base", 200)
    assert words["seeds"] == 2
    assert words["difference"] == pytest.approx(2 / 8)


def test_models_without_a_common_seed_are_not_compared() -> None:
    told = [*rows("base", 1, "ynny"), *rows("m", 2, "ynny"), *rows("m", 3, "ynny")]
    with pytest.raises(ArtefactError, match=r"^m and base share no seed, so they cannot be"):
        paired_rows(hits_by_model(told, IDS), "base", 10)


def test_a_pair_of_another_split_is_named() -> None:
    with pytest.raises(ArtefactError, match=r"^m was scored on pair x, which is no test pair; run"):
        hits_by_model([row("m", 1, "x", True)], IDS)
