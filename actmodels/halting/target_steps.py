"""ACT with a wanted mean number of steps instead of a guessed ponder weight (ours)."""

import torch
from torch import Tensor

from actmodels.halting.act import Act
from actmodels.models.prediction import Prediction
from actmodels.settings import TargetStepsConfig


class TargetSteps(Act):
    """Minimise the loss subject to mean(N) = target_steps, by dual ascent on the ponder weight.

    The ponder weight is the multiplier of the constraint. After each update it moves by
    adaptation_rate · (mean N of the batch - target_steps): up while examples take too many
    steps, down, and below zero, while they take too few. It is part of the model's state, so
    that a training taken up again goes on with it.
    """

    multiplier: Tensor

    def __init__(self, config: TargetStepsConfig, state: int) -> None:
        super().__init__(config, state)
        self.register_buffer("multiplier", torch.zeros(()))
        self.target = config.target_steps
        self.rate = config.adaptation_rate

    def cost_weight(self) -> Tensor:
        """The multiplier, a scalar."""
        return self.multiplier

    @torch.no_grad()
    def adapt(self, prediction: Prediction) -> None:
        """Move the ponder weight towards what holds the target."""
        assert prediction.steps is not None
        self.multiplier += self.rate * (prediction.steps.mean() - self.target)
