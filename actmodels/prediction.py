"""What every model returns, and its losses, which torch's own cannot average per trial."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.data.pairs import FILLER


class Prediction(NamedTuple):
    """Scores of a batch; None where a model without halting has nothing.

    logits: [batch, labels], in the order of LABELS. steps: N [batch]. ponder_cost: [batch], added
    to the loss by the ponder weight; N + R for ACT. weights: halting distribution [batch, steps].
    step_logits: each state classified alone, where training needs it [batch, steps, labels].
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
    """The score [...] of each example's label, of [..., labels]; of the first for a FILLER."""
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
    """That of the examples of a batch in nats []; when fused [trials]."""
    return mean_over_examples(cross_entropies(logits, labels), labels)


def mean_over_examples(values: Tensor, labels: Tensor) -> Tensor:
    """The mean of [batch] over examples whose label is not FILLER []; when fused [trials]."""
    real = labels != FILLER
    return torch.where(real, values, 0.0).sum(dim=-1) / real.sum(dim=-1)
