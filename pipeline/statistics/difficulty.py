"""Do steps follow the difficulty of a pair? Tests over seeds and pairs.

Difficulty is the entropy of the annotators' labels, the recorded reasoning depth, or the loss of a
model without steps, which is also tested in place of steps.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from actmodels.data.pairs import PairTensors
from actmodels.evaluation import Evaluation
from actmodels.prediction import cross_entropies
from actmodels.registry import is_adaptive
from pipeline.runtime.results import TableRow
from pipeline.statistics.paired import Groups, estimate

Values = NDArray[np.float64]  # of the pairs of a split; nan: unknown, or not scored
BySeed = dict[int, Values]


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
