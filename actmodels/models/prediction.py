"""What every model returns."""

from typing import NamedTuple

from torch import Tensor


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
