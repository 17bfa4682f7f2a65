"""Correlations and joint counts of steps with length and depth, against manual calculations."""

from dataclasses import replace

import pytest
import torch

from actmodels.training import Evaluation
from pipeline.statistics.step_correlation import correlation_rows, length_rows, mean_lengths
from tests.samples import sample_pairs

NAME = {"model": "m", "seed": 1}


def evaluation(rows: list[int], steps: list[float] | None) -> Evaluation:
    taken = None if steps is None else torch.tensor(steps)
    index = torch.tensor(rows)
    return Evaluation(index, torch.zeros(len(rows), 3), torch.zeros(len(rows)).long(), taken, None)


def test_lengths_are_means_of_both_sentences() -> None:
    pairs = sample_pairs(4)
    words = (
        (pairs.premise_ids, pairs.premise_offsets),
        (pairs.hypothesis_ids, pairs.hypothesis_offsets),
    )
    first, second = ([len(part) for part in ids.tensor_split(at[1:-1])] for ids, at in words)
    assert mean_lengths(pairs).tolist() == [(a + b) / 2 for a, b in zip(first, second, strict=True)]


def test_steps_that_grow_with_depth_correlate() -> None:
    """Steps 1, 2, 4 at depths 1, 2, 3: r = 3 / sqrt(2 · 14/3) = 0.982; the ranks are equal."""
    pairs = replace(sample_pairs(3), depths=torch.tensor([1, 2, 3]))
    rows = correlation_rows(NAME, evaluation([0, 1, 2], [1.0, 2.0, 4.0]), pairs)
    assert [row["steps_against"] for row in rows] == ["mean_length", "depth"]
    assert rows[1]["pearson"] == pytest.approx(3 / (2 * 14 / 3) ** 0.5)
    assert rows[1]["spearman"] == pytest.approx(1.0)
    assert rows[1]["pairs"] == 3


def test_without_depths_without_steps_and_constant_steps() -> None:
    pairs = sample_pairs(3)  # depth 0: not recorded
    rows = correlation_rows(NAME, evaluation([0, 1, 2], [1.0, 2.0, 4.0]), pairs)
    assert [row["steps_against"] for row in rows] == ["mean_length"]
    some = replace(pairs, depths=torch.tensor([0, 1, 2]))
    assert len(correlation_rows(NAME, evaluation([0, 1, 2], [1.0, 2.0, 4.0]), some)) == 1
    assert correlation_rows(NAME, evaluation([0, 1], None), pairs) == []
    assert length_rows(NAME, evaluation([0, 1], None), pairs) == []
    pairs = replace(pairs, depths=torch.tensor([2, 2, 2]))
    rows = correlation_rows(NAME, evaluation([0, 1, 2], [1.0, 2.0, 4.0]), pairs)
    assert (rows[1]["pearson"], rows[1]["spearman"]) == (None, None)


def test_joint_counts_are_of_the_pairs_scored() -> None:
    pairs = sample_pairs(6)
    length = mean_lengths(pairs).tolist()
    rows = length_rows(NAME, evaluation([1, 3, 5], [2.0, 2.0, 7.0]), pairs)
    assert sum(row["pairs"] for row in rows) == 3
    result = {(row["mean_length"], row["steps"]) for row in rows}
    assert result == {(length[1], 2), (length[3], 2), (length[5], 7)}
