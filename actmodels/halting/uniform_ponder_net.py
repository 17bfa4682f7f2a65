"""PonderNet with a uniform prior of the exit step."""

import math

from torch import Tensor

from actmodels.configs import UniformPonderNetConfig
from actmodels.halting.base import AnsweringHalting
from actmodels.halting.ponder_net import PonderNet


class UniformPonderNet(PonderNet):
    """PonderNet whose prior gives each of the max_steps steps the same probability.

    A geometric prior trains late steps less (Ouro, Zhu et al. 2025, arXiv:2510.25741).
    """

    settings = UniformPonderNetConfig

    def __init__(self, config: UniformPonderNetConfig, state: int, *, classes: bool = True) -> None:
        AnsweringHalting.__init__(self, config, state, classes=classes)

    def log_prior(self, weights: Tensor) -> Tensor:
        return weights.new_full((), -math.log(self.max_steps))
