"""A fixed number of steps."""

import torch
from torch import Tensor

from actmodels.configs import FixedStepsConfig
from actmodels.halting.base import Classify, Halting
from actmodels.prediction import Prediction


class FixedSteps(Halting):
    """Classify the last of a fixed number of states, without a ponder cost.

    Sordoni et al. 2016; thesis figure 6.2.
    """

    def __init__(self, config: FixedStepsConfig, state: int) -> None:
        super().__init__()
        self.max_steps = config.steps

    def probability(self, state: Tensor) -> Tensor:
        """Return zeros [batch]: no example halts before the last step."""
        return state.new_zeros(state.shape[:-1])

    def has_halted(self, probabilities: Tensor) -> Tensor:
        *batch, steps = probabilities.shape
        return torch.full(batch, steps >= self.max_steps, device=probabilities.device)

    def answer(self, states: Tensor, probabilities: Tensor, classify: Classify) -> Prediction:
        *batch, steps = probabilities.shape
        weights = torch.zeros_like(probabilities)
        weights[..., -1] = 1.0
        taken = probabilities.new_full(batch, float(steps))
        return Prediction(classify(states[..., -1, :]), taken, None, weights)
