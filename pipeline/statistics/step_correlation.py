"""Correlation of steps with length and difficulty of a pair, and tests over seeds and pairs.

Difficulty is the entropy of the annotators' labels, the recorded reasoning depth, or the loss of a
model without steps, which is also tested in place of steps.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import entr
from torch import Tensor

from actmodels.data.pairs import PairTensors
from actmodels.prediction import cross_entropies
from actmodels.registry import is_adaptive
from actmodels.training import Evaluation
from pipeline.runtime.results import TableRow
from pipeline.statistics.paired import Groups, estimate

Values = NDArray[np.float64]  # one for each pair; nan: unknown, or not scored
BySeed = dict[int, Values]


def mean_lengths(pairs: PairTensors) -> Tensor:
    """Return the mean number of tokens of premise and hypothesis [pairs] (thesis figure 6.5)."""
    return (pairs.premise_offsets.diff() + pairs.hypothesis_offsets.diff()).double() / 2


def correlation(steps: Tensor, values: Tensor) -> float | None:
    """Return Pearson's correlation of two tensors [pairs]; None if either is constant."""
    varies = steps.unique().numel() > 1 and values.unique().numel() > 1
    return float(np.corrcoef(steps.numpy(), values.numpy())[0, 1]) if varies else None


def ranks(values: Tensor) -> Tensor:
    """Return the rank of each value [pairs] from 1; equal ones have their mean rank."""
    _, inverse, counts = values.unique(return_inverse=True, return_counts=True)
    return (counts.cumsum(0) - (counts.double() - 1) / 2)[
        inverse
    ]  # scipy.stats takes seconds to import


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
        | {"spearman": correlation(ranks(steps), ranks(values))}
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


class Annotations(NamedTuple):
    """Labels of the annotators of each pair of a split; nan for a pair with fewer than most.

    agreement: number of annotators with the most frequent label [pairs].
    entropy: of the distribution of labels, in nats [pairs].
    annotators: their number.
    """

    agreement: Values
    entropy: Values
    annotators: int


def annotations(labels: Sequence[Sequence[str]]) -> Annotations | None:
    """Count the labels of each pair; None if no pair has several."""
    annotators = max(map(len, labels), default=0)
    if annotators < 2:
        return None
    agreement, disorder = np.full((2, len(labels)), np.nan)
    for index, given in enumerate(labels):
        if len(given) == annotators:
            counts = [given.count(label) for label in dict.fromkeys(given)]
            agreement[index] = max(counts)
            disorder[index] = entr(np.array(counts) / annotators).sum()
    return Annotations(agreement, disorder, annotators)


def effort(result: Evaluation, pairs: int) -> tuple[Values, Values]:
    """Return the steps and the loss in nats of each pair of a split [pairs]."""
    steps, losses = np.full((2, pairs), np.nan)
    if result.steps is not None:
        steps[result.rows.numpy()] = result.steps.double().numpy()
    losses[result.rows.numpy()] = cross_entropies(result.logits.double(), result.labels).numpy()
    return steps, losses


def agreement_rows(
    name: TableRow, hits: Values, steps: Values, losses: Values, labels: Annotations | None
) -> list[TableRow]:
    """Return accuracy, mean steps and loss by the number of annotators who agree."""
    if labels is None:
        return []
    agreement, rows = np.where(np.isnan(hits), np.nan, labels.agreement), []
    columns = {"accuracy": hits, "mean_steps": steps, "mean_loss": losses}
    for count in np.unique(agreement[~np.isnan(agreement)]):
        mask = agreement == count
        means = {column: float(values[mask].mean()) for column, values in columns.items()}
        group = {"agreement": int(count), "annotators": labels.annotators}
        rows.append(name | group | {"pairs": int(mask.sum())} | means)
    return rows


def correlated(efforts: Values, difficulty: Values) -> Values | None:
    """Return values [seeds, pairs] whose mean over pairs is Pearson's r of each seed.

    r plus its influence function, zx·zy - r/2 (zx² + zy²) with standardized x and y, so that their
    variance over pairs is that of r. None if either is constant.
    """
    if not (np.ptp(efforts, axis=1).all() and np.ptp(difficulty)):
        return None
    x, y = (
        (v - v.mean(axis=-1, keepdims=True)) / v.std(axis=-1, keepdims=True)
        for v in (efforts, difficulty)
    )
    r = (x * y).mean(axis=1, keepdims=True)
    return np.asarray(r + x * y - r / 2 * (x**2 + y**2))


def contrasted(efforts: Values, low: NDArray[np.bool_], high: NDArray[np.bool_]) -> Values | None:
    """Return values [seeds, pairs] with the mean of `low` pairs minus that of `high` ones."""
    if not (low.any() and high.any()):
        return None

    def part(mask: NDArray[np.bool_]) -> Values:
        mean = efforts[:, mask].mean(axis=1, keepdims=True)
        return np.asarray(mean + (efforts - mean) * mask / mask.mean())

    return part(low) - part(high)


def difficulty_rows(
    steps: Mapping[str, BySeed],
    losses: Mapping[str, BySeed],
    pairs: PairTensors,
    labels: Annotations | None,
    groups: Groups,
) -> Iterator[TableRow]:
    """Yield a test for each adaptive model's steps, and for the loss of the first other model."""
    reference = next((model for model in losses if not is_adaptive(model)), None)
    against: dict[str, Values] = {}
    if bool(pairs.depths.all()):
        against["depth"] = pairs.depths.double().numpy()
    if labels is not None:
        against |= {"entropy": labels.entropy, "agreement": labels.agreement}
    for model in losses:
        if is_adaptive(model):
            columns = dict(against)
            if reference is not None:
                columns["loss"] = np.stack([*losses[reference].values()]).mean(axis=0)
            efforts, measure = np.stack([*steps[model].values()]), "steps"
        elif model == reference:
            columns, efforts, measure = against, np.stack([*losses[model].values()]), "loss"
        else:
            continue
        for name, difficulty in columns.items():
            known = ~np.isnan(efforts + difficulty).any(axis=0)
            x, y = efforts[:, known], difficulty[known]
            values = correlated(x, y)
            if name == "agreement":
                values = contrasted(x, y == y.min(), y == y.max()) if len(y) else None
            if values is not None:
                row = {"model": model, "measure": measure, "against": name, "seeds": len(x)}
                yield row | estimate(values, groups[known])._asdict()
