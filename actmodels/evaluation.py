"""Measuring a trained model on a split."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from actmodels.configs import InputConfig
from actmodels.data.pairs import Batch, PairTensors, collate
from actmodels.metrics import Metrics, mean_and_sd
from actmodels.models.pair_model import PairModel
from actmodels.prediction import Prediction


class Evaluation(NamedTuple):
    """A model on a split, per scored pair, in the split's order.

    rows: places in the split [pairs]. logits: [pairs, labels]. labels, steps, ponder_cost: [pairs].
    """

    rows: Tensor
    logits: Tensor
    labels: Tensor
    steps: Tensor | None
    ponder_cost: Tensor | None

    @property
    def predictions(self) -> Tensor:
        """The likeliest label of each pair [pairs]."""
        return self.logits.argmax(dim=1)

    @property
    def accuracy(self) -> float:
        """Share of right predictions, in [0, 1]."""
        return (self.predictions == self.labels).double().mean().item()

    @property
    def loss(self) -> float:
        """Mean cross-entropy in nats, without the ponder term."""
        return cross_entropy(self.logits.double(), self.labels).item()

    @property
    def metrics(self) -> Metrics:
        spread, ponder = mean_and_sd(self.steps), mean_and_sd(self.ponder_cost)
        return Metrics(self.loss, self.accuracy, *spread, ponder[0])


def evaluate(
    model: PairModel, pairs: PairTensors, config: InputConfig, batch_size: int = 256
) -> Evaluation:
    """Score the pairs of a split without dropout, in the batches that the model makes of it."""
    rows, found = predicted(model, pairs, config, batch_size)
    return Evaluation(rows, found.logits, pairs.labels[rows], found.steps, found.ponder_cost)


@torch.no_grad()
def predicted(
    model: PairModel,
    pairs: PairTensors,
    config: InputConfig,
    batch_size: int,
    given: Callable[[Batch], Batch] = lambda batch: batch,
) -> tuple[Tensor, Prediction]:
    """Predict a split on the CPU: rows scored [pairs], and predictions of `given` batches."""
    model.eval()
    device = next(model.parameters()).device
    predictions, scored = [], []
    for index in model.batches(pairs, batch_size):
        batch = collate(pairs, index, null_token=config.null_token, device=device)
        predictions.append(model(given(batch))[:3])  # logits, steps, ponder cost
        scored.append(index)
    rows, back = torch.sort(torch.cat(scored))
    joined = [
        None if parts[0] is None else torch.cat(parts, dim).cpu().index_select(dim, back)
        for parts, dim in zip(zip(*predictions, strict=True), (-2, -1, -1), strict=True)
    ]
    return rows, Prediction(*joined)  # type: ignore[arg-type]
