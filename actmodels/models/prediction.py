"""What every model returns."""

from typing import NamedTuple

from torch import Tensor


class Prediction(NamedTuple):
    """Scores of a batch.

    logits: [batch, labels], in the order of actmodels.data.pairs.LABELS.
    steps: [batch], inference steps taken per example (N), or None without halting.
    ponder_cost: [batch], N + R, differentiable, or None without halting.
    """

    logits: Tensor
    steps: Tensor | None = None
    ponder_cost: Tensor | None = None
