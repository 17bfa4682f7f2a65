"""What the number of steps goes with: the length of the sentences, the recorded reasoning depth."""

from collections.abc import Callable
from typing import Any

import torch
from scipy.stats import pearsonr, spearmanr
from torch import Tensor

from actmodels.data.pairs import PairTensors
from actmodels.evaluation import Evaluation


def mean_lengths(pairs: PairTensors) -> Tensor:
    """Mean of the tokens of premise and hypothesis [pairs] (thesis figure 6.5)."""
    return (pairs.premise_offsets.diff() + pairs.hypothesis_offsets.diff()).double() / 2


def correlation(measure: Callable[..., Any], steps: Tensor, values: Tensor) -> float | None:
    """Return a correlation from SciPy; None where steps or values are all equal."""
    varies = steps.unique().numel() > 1 and values.unique().numel() > 1
    return float(measure(steps.numpy(), values.numpy())[0]) if varies else None


def pearson(steps: Tensor, values: Tensor) -> float | None:
    """Return Pearson's r of steps [pairs] and values [pairs]; None where either is constant."""
    return correlation(pearsonr, steps, values)


def correlation_rows(
    name: dict[str, Any], result: Evaluation, pairs: PairTensors
) -> list[dict[str, Any]]:
    """Correlation over the test pairs of the steps taken with length, and with depth if recorded.

    Empty for a model without halting. A correlation with what never changes is None.
    """
    if result.steps is None:
        return []
    steps, depths = result.steps.double(), pairs.depths[result.rows]
    against = {"mean_length": mean_lengths(pairs)[result.rows]}
    if bool((depths > 0).all()):
        against["depth"] = depths.double()
    rows = []
    for what, values in against.items():
        found = {"pearson": pearson(steps, values)}
        found |= {"spearman": correlation(spearmanr, steps, values)}
        rows.append(name | {"steps_against": what, "pairs": len(steps)} | found)
    return rows


def length_rows(
    name: dict[str, Any], result: Evaluation, pairs: PairTensors
) -> list[dict[str, Any]]:
    """The joint distribution of steps and mean sentence length: how many pairs have both."""
    if result.steps is None:
        return []
    both = torch.stack([mean_lengths(pairs)[result.rows], result.steps.double()], dim=1)
    cells, counts = both.unique(dim=0, return_counts=True)
    return [
        name | {"mean_length": length, "steps": int(steps), "pairs": count}
        for (length, steps), count in zip(cells.tolist(), counts.tolist(), strict=True)
    ]


def depth_rows(
    name: dict[str, Any], result: Evaluation, pairs: PairTensors
) -> list[dict[str, Any]]:
    """Accuracy and steps by recorded reasoning depth; none where the corpus records none."""
    rows = []
    depths = pairs.depths[result.rows]
    for depth in depths[depths > 0].unique().tolist():
        chosen = depths == depth
        hits = (result.predictions == result.labels)[chosen]
        steps = None if result.steps is None else result.steps[chosen].double().mean().item()
        found = {"depth": depth, "pairs": int(chosen.sum())}
        rows.append(name | found | {"accuracy": hits.double().mean().item(), "mean_steps": steps})
    return rows
