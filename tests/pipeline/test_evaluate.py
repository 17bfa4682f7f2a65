"""Rows of stage `evaluate`, and their tables."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from actmodels.training import Evaluation
from pipeline.evaluate import prediction_rows
from pipeline.runtime.results import write_table
from pipeline.statistics.step_correlation import depth_rows
from tests.samples import CLASSES, sample_pairs

NAME = {"model": "m", "seed": 1}
PAIRS = replace(
    sample_pairs(5), labels=torch.tensor([0, 1, 2, 0, 1]), depths=torch.tensor([1, 2, 2, 0, 3])
)
ROWS = torch.tensor([0, 2, 3])


@pytest.mark.parametrize("steps", [None, torch.tensor([4.0, 2.0, 3.0])])
def test_a_pair_that_was_not_scored_has_no_row(steps: torch.Tensor | None) -> None:
    result = Evaluation(ROWS, torch.eye(3)[[1, 2, 0]], PAIRS.labels[ROWS], steps, None)
    rows = prediction_rows(NAME, result, [*"abcde"], CLASSES)
    assert [row["pair_id"] for row in rows] == ["a", "c", "d"]
    assert [row["label"] for row in rows] == ["neutral", "contradiction", "neutral"]
    assert [row["predicted"] for row in rows] == ["entailment", "contradiction", "neutral"]
    assert [row["steps"] for row in rows] == ([None] * 3 if steps is None else [4, 2, 3])
    of_depths = [(1, 0.0, 4.0), (2, 1.0, 2.0)]
    assert depth_rows(NAME, result, PAIRS) == [
        NAME | {"depth": d, "pairs": 1, "accuracy": a, "mean_steps": None if steps is None else n}
        for d, a, n in of_depths
    ]


def test_a_missing_value_is_an_empty_cell(tmp_path: Path) -> None:
    rows = [{"a": None, "b": float("nan"), "c": 0}, {"c": 'x,"y"', "d": 0.1}]
    write_table(tmp_path / "a.csv", rows)
    write_table(tmp_path / "b.csv", rows, "d a")
    assert [*csv.reader((tmp_path / "a.csv").open(newline=""))] == [
        *([*"abcd"], ["", "", "0", ""], ["", "", 'x,"y"', "0.1"])
    ]
    assert (tmp_path / "b.csv").read_bytes() == b"d,a\n,\n0.1,\n"
