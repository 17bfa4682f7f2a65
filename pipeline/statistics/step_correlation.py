"""Correlation of steps with sentence length and with the recorded reasoning depth."""

from collections.abc import Callable
from typing import Any

import torch
from scipy.stats import pearsonr, spearmanr
from torch import Tensor

from actmodels.data.pairs import PairTensors
from actmodels.evaluation import Evaluation
from pipeline.runtime.results import TableRow


def mean_lengths(pairs: PairTensors) -> Tensor:
    """Return the mean number of tokens of premise and hypothesis [pairs] (thesis figure 6.5)."""
    return (pairs.premise_offsets.diff() + pairs.hypothesis_offsets.diff()).double() / 2


def correlation(
    steps: Tensor, values: Tensor, measure: Callable[..., Any] = pearsonr
) -> float | None:
    """Return the correlation of two tensors [pairs]; None if either is constant."""
    varies = steps.unique().numel() > 1 and values.unique().numel() > 1
    return float(measure(steps.numpy(), values.numpy()).statistic) if varies else None


def correlation_rows(name: TableRow, result: Evaluation, pairs: PairTensors) -> list[TableRow]:
    """Return the correlations of steps with length and, if recorded, with depth.

    Empty for a model without halting.
    """
    if result.steps is None:
        return []
    steps, depths = result.steps.double(), pairs.depths[result.rows]
    against = {"mean_length": mean_lengths(pairs)[result.rows]}
    if bool((depths > 0).all()):
        against["depth"] = depths.double()
    return [
        name
        | {"steps_against": variable, "pairs": len(steps), "pearson": correlation(steps, values)}
        | {"spearman": correlation(steps, values, spearmanr)}
        for variable, values in against.items()
    ]


def length_rows(name: TableRow, result: Evaluation, pairs: PairTensors) -> list[TableRow]:
    """Count the pairs with each combination of steps and mean sentence length."""
    if result.steps is None:
        return []
    both = torch.stack([mean_lengths(pairs)[result.rows], result.steps.double()], dim=1)
    cells, counts = both.unique(dim=0, return_counts=True)
    return [
        name | {"mean_length": length, "steps": int(steps), "pairs": count}
        for (length, steps), count in zip(cells.tolist(), counts.tolist(), strict=True)
    ]


def depth_rows(name: TableRow, result: Evaluation, pairs: PairTensors) -> list[TableRow]:
    """Return accuracy and mean steps by reasoning depth; empty if no depth is recorded."""
    rows = []
    depths, right = pairs.depths[result.rows], result.predictions == result.labels
    for depth in depths[depths > 0].unique().tolist():
        mask = depths == depth
        steps = None if result.steps is None else result.steps[mask].double().mean().item()
        metrics = {"accuracy": right[mask].double().mean().item(), "mean_steps": steps}
        rows.append(name | {"depth": depth, "pairs": int(mask.sum())} | metrics)
    return rows
