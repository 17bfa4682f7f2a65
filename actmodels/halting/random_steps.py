"""Random numbers of steps in training, as looped models train (Huginn, arXiv:2502.05171)."""

import torch

from actmodels.configs import RandomStepsConfig
from actmodels.halting.base import LastState


class RandomSteps(LastState):
    """Take 1 + Poisson(mean_steps - 1) steps in each training batch, max_steps in evaluation.

    Every state may be the last one, so the network can take more steps than in training. The
    number is drawn from torch's generator of the CPU.
    """

    settings = RandomStepsConfig
    fusions = False  # trials draw different numbers

    def __init__(self, config: RandomStepsConfig, state: int) -> None:
        super().__init__(config, state)
        self.mean_steps = config.mean_steps

    def step_limit(self) -> int:
        if not self.training:
            return self.max_steps
        further = torch.poisson(torch.tensor(self.mean_steps - 1))
        return min(1 + int(further), self.max_steps)
