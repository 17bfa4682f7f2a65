"""ACT with a wanted mean number of steps instead of a guessed ponder weight (ours)."""

import torch
from torch import Tensor

from actmodels.halting.act import Act
from actmodels.losses import mean_over_examples
from actmodels.models.prediction import Prediction
from actmodels.modules.linear import per_trial
from actmodels.settings import TargetStepsConfig


class TargetSteps(Act):
    """Minimise the loss subject to mean(N) = target_steps, by dual ascent on the ponder weight.

    The multiplier of the constraint moves after each update by adaptation_rate times how far the
    batch's mean N is above the target: up while examples take too many steps, down, and below
    zero, while they take too few. Alone it overshoots, since steps follow the ponder weight only
    after some hundred updates; so the ponder weight is

        multiplier + damping · recent deviation,

    an augmented Lagrangian. Both are part of the model's state, so that a training taken up
    again goes on with them.
    """

    multiplier: Tensor
    deviation: Tensor

    def __init__(self, config: TargetStepsConfig, state: int) -> None:
        super().__init__(config, state)
        self.register_buffer("multiplier", torch.zeros(()))
        self.register_buffer("deviation", torch.zeros(()))
        self.target: float | Tensor = config.target_steps
        self.rate: float | Tensor = config.adaptation_rate
        self.damping: float | Tensor = config.damping
        self.recent_share: float | Tensor = config.recent_share

    def cost_weight(self) -> Tensor:
        """The ponder weight now []; in a pack [trials]."""
        return self.multiplier + per_trial(self.damping, self.deviation) * self.deviation

    @torch.no_grad()
    def adapt(self, prediction: Prediction, labels: Tensor) -> None:
        """Move the ponder weight towards what holds the target."""
        assert prediction.steps is not None
        mean = mean_over_examples(prediction.steps, labels)
        above = mean - per_trial(self.target, mean)
        self.multiplier += per_trial(self.rate, mean) * above
        share = per_trial(self.recent_share, mean)
        self.deviation += share * (above - self.deviation)
