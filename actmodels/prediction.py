"""What every model returns, and its losses, which torch's own cannot average per trial."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.data.pairs import FILLER


class Prediction(NamedTuple):
    """Scores of a batch. What a model without halting does not have is None.

    logits: [batch, labels], in the order of actmodels.data.labels.LABELS.
    steps: [batch], inference steps taken per example (N).
    ponder_cost: [batch], differentiable; what the halting adds to the loss by its ponder weight:
        N + R for ACT.
    weights: [batch, steps], the halting distribution, sum 1.
    step_logits: [batch, steps, labels], each state classified by itself, where training needs it.
    """

    logits: Tensor
    steps: Tensor | None = None
    ponder_cost: Tensor | None = None
    weights: Tensor | None = None
    step_logits: Tensor | None = None

    def each(self, change: Callable[[Tensor], Tensor]) -> "Prediction":
        logits, *others = self
        return Prediction(change(logits), *(None if v is None else change(v) for v in others))


def chosen(scores: Tensor, labels: Tensor) -> Tensor:
    """The score of each example's label; that of the first label for a filler.

    Args:
        scores: [..., labels]. labels: [...], FILLER where there is no example.
    """
    return scores.gather(-1, labels.clamp(min=0)[..., None]).squeeze(-1)


def cross_entropies(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy of each example in nats [...], of logits [..., labels]."""
    return -chosen(torch.log_softmax(logits, dim=-1), labels)


def step_losses(prediction: Prediction, labels: Tensor) -> Tensor:
    """Cross-entropy of each state, classified by itself, in nats [batch, steps]."""
    logits = prediction.step_logits
    assert logits is not None
    return cross_entropies(logits, labels[..., None].expand(logits.shape[:-1]))


def mean_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """That of the examples of a batch in nats []; in a pack [trials]."""
    return mean_over_examples(cross_entropies(logits, labels), labels)


def mean_over_examples(values: Tensor, labels: Tensor) -> Tensor:
    """The mean over a batch [], in a pack over each trial's own examples [trials].

    Args:
        values: [batch], in a pack [trials, batch]. labels: the same shape; FILLER counts nowhere.
    """
    real = labels != FILLER
    return torch.where(real, values, 0.0).sum(dim=-1) / real.sum(dim=-1)
