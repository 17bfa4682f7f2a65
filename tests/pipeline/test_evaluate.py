"""The rows that stage `evaluate` writes of an evaluation that did not score every pair."""

from dataclasses import replace

import pytest
import torch

from actmodels.evaluation import Evaluation
from pipeline.evaluate import prediction_rows
from pipeline.measures.steps import depth_rows
from tests.samples import sample_pairs

NAME = {"model": "m", "seed": 1}
PAIRS = replace(
    sample_pairs(5), labels=torch.tensor([0, 1, 2, 0, 1]), depths=torch.tensor([1, 2, 2, 0, 3])
)
ROWS = torch.tensor([0, 2, 3])


@pytest.mark.parametrize("steps", [None, torch.tensor([4.0, 2.0, 3.0])])
def test_a_pair_that_was_not_scored_has_no_row(steps: torch.Tensor | None) -> None:
    result = Evaluation(ROWS, torch.eye(3)[[1, 2, 0]], PAIRS.labels[ROWS], steps, None)
    rows = prediction_rows(NAME, result, ["a", "b", "c", "d", "e"])
    assert [row["pair_id"] for row in rows] == ["a", "c", "d"]
    assert [row["label"] for row in rows] == ["neutral", "contradiction", "neutral"]
    assert [row["predicted"] for row in rows] == ["entailment", "contradiction", "neutral"]
    assert [row["steps"] for row in rows] == ([None] * 3 if steps is None else [4, 2, 3])


def test_depths_are_those_of_the_pairs_scored() -> None:
    steps = torch.tensor([4.0, 2.0, 3.0])
    result = Evaluation(ROWS, torch.eye(3)[[1, 2, 0]], PAIRS.labels[ROWS], steps, None)
    rows = depth_rows(NAME, result, PAIRS)
    assert rows == [
        NAME | {"depth": 1, "pairs": 1, "accuracy": 0.0, "mean_steps": 4.0},
        NAME | {"depth": 2, "pairs": 1, "accuracy": 1.0, "mean_steps": 2.0},
    ]
