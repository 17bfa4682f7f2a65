"""Output of a model, and losses with a mean per trial, which torch's losses lack."""

from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.data.pairs import FILLER


class Prediction(NamedTuple):
    """Predictions for a batch; all fields but `logits` are None for a model without halting.

    logits: [batch, labels], in the order of LABELS.
    steps: number of inference steps N [batch].
    ponder_cost: [batch]; for ACT N + R.
    weights: weight of each step [batch, steps], sum 1.
    step_logits: logits of each state alone [batch, steps, labels], if training needs them.
    """

    logits: Tensor
    steps: Tensor | None = None
    ponder_cost: Tensor | None = None
    weights: Tensor | None = None
    step_logits: Tensor | None = None


def chosen(scores: Tensor, labels: Tensor) -> Tensor:
    """Gather the score of each label [...] from [..., labels]; of label 0 for FILLER."""
    return scores.gather(-1, labels.clamp(min=0)[..., None]).squeeze(-1)


def cross_entropies(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the cross-entropy of each example in nats [...]; logits: [..., labels]."""
    return -chosen(torch.log_softmax(logits, dim=-1), labels)


def step_losses(prediction: Prediction, labels: Tensor) -> Tensor:
    """Return the cross-entropy of each state alone in nats [batch, steps]."""
    logits = prediction.step_logits
    assert logits is not None
    return cross_entropies(logits, labels[..., None].expand(logits.shape[:-1]))


def mean_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean cross-entropy of a batch in nats []; when fused [trials]."""
    return mean_over_examples(cross_entropies(logits, labels), labels)


def mean_over_examples(values: Tensor, labels: Tensor) -> Tensor:
    """Average [batch] over examples whose label is not FILLER []; when fused [trials]."""
    real = labels != FILLER
    return torch.where(real, values, 0.0).sum(dim=-1) / real.sum(dim=-1)
