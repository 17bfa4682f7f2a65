"""Evaluation of a trained model on a split."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from actmodels.configs import InputConfig
from actmodels.data.pairs import BATCH_SIZE, Batch, PairTensors, collate
from actmodels.metrics import Metrics, mean_and_sd
from actmodels.models.pair_model import PairModel
from actmodels.prediction import concatenated


class Evaluation(NamedTuple):
    """Predictions of a model for the scored pairs of a split, in the split's order."""

    rows: Tensor  # index of each scored pair in the split [pairs]
    logits: Tensor  # [pairs, labels]
    labels: Tensor  # [pairs]
    steps: Tensor | None  # [pairs]; None without halting
    ponder_cost: Tensor | None  # [pairs]; None without halting

    @property
    def predictions(self) -> Tensor:
        """Predicted label of each pair [pairs]."""
        return self.logits.argmax(dim=1)

    @property
    def accuracy(self) -> float:
        """Share of correct predictions, in [0, 1]."""
        return (self.predictions == self.labels).double().mean().item()

    @property
    def loss(self) -> float:
        """Mean cross-entropy in nats, without the ponder cost."""
        return cross_entropy(self.logits.double(), self.labels).item()

    @property
    def metrics(self) -> Metrics:
        ponder_cost, _ = mean_and_sd(self.ponder_cost)
        return Metrics(self.loss, self.accuracy, *mean_and_sd(self.steps), ponder_cost)

    def trial(self, number: int) -> "Evaluation":
        """Return the evaluation of one trial of a fusion."""
        steps, cost = (None if v is None else v[number] for v in (self.steps, self.ponder_cost))
        return self._replace(logits=self.logits[number], steps=steps, ponder_cost=cost)


@torch.no_grad()
def evaluate(
    model: PairModel,
    pairs: PairTensors,
    config: InputConfig,
    batch_size: int = BATCH_SIZE,
    transform: Callable[[Batch], Batch] = lambda batch: batch,
) -> Evaluation:
    """Evaluate a model on a split, without dropout, after `transform` of each batch."""
    model.eval()
    device = next(model.parameters()).device
    predictions, scored = [], []
    for index in model.batches(pairs, batch_size):
        batch = collate(pairs, index, null_token=config.null_token, device=device)
        predictions.append(model(transform(batch))[:3])  # logits, steps, ponder cost
        scored.append(index)
    rows, order = torch.sort(torch.cat(scored))
    logits, steps, ponder_cost = (
        None if part is None else part.cpu().index_select(dim, order)
        for part, dim in zip(concatenated(predictions), (-2, -1, -1), strict=True)
    )
    assert logits is not None
    return Evaluation(rows, logits, pairs.labels[rows], steps, ponder_cost)
