"""Measuring a trained model on a split."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from actmodels.data.batching import collate
from actmodels.data.pairs import PairTensors
from actmodels.figures import Figures, mean_and_sd
from actmodels.models.pair_model import PairModel
from actmodels.settings import InputConfig


class Evaluation(NamedTuple):
    """A model on a split, per pair scored, in the split's order.

    rows: [pairs], where each stands in the split; all of it but for the models as published.
    logits: [pairs, labels]. labels: [pairs].
    steps, ponder_cost: [pairs], or None for a model without halting.
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
    def figures(self) -> Figures:
        """All of it in a few numbers."""
        spread, ponder = mean_and_sd(self.steps), mean_and_sd(self.ponder_cost)
        return Figures(self.loss, self.accuracy, *spread, ponder[0])


@torch.no_grad()
def evaluate(
    model: PairModel, pairs: PairTensors, config: InputConfig, batch_size: int = 256
) -> Evaluation:
    """Score the pairs of a split without dropout, in the batches that the model makes of it."""
    model.eval()
    device = next(model.parameters()).device
    logits, steps, ponder, scored = [], [], [], []
    for index in model.batches(pairs, batch_size):
        batch = collate(pairs, index, null_token=config.null_token, device=device)
        prediction = model(batch)
        scored.append(index)
        logits.append(prediction.logits)
        steps.append(prediction.steps)
        ponder.append(prediction.ponder_cost)
    rows, back = torch.sort(torch.cat(scored))

    def gather(parts: list[Tensor]) -> Tensor | None:
        return None if parts[0] is None else torch.cat(parts).cpu()[back]

    return Evaluation(
        rows, torch.cat(logits).cpu()[back], pairs.labels[rows], gather(steps), gather(ponder)
    )
