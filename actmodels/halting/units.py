"""ACT with other halting units: with a hidden layer, and on [state; change of state]."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from actmodels.configs import ChangeActConfig, MlpActConfig
from actmodels.halting.act import Act
from actmodels.modules.linear import HaltingUnit, Linear


class MlpAct(Act):
    """h_n = sigmoid(w · tanh(U state_n + c) + b) (thesis section 6.4 asks for it)."""

    settings = MlpActConfig

    def build_unit(self, config: MlpActConfig, state: int) -> nn.Module:
        output = HaltingUnit(config.hidden_size, config.halting_bias)
        return nn.Sequential(Linear(state, config.hidden_size), nn.Tanh(), output)


class ChangeAct(Act):
    """h_n = sigmoid(w · [state_n; state_n - state_{n-1}] + b).

    The paper's discussion proposes to halt on differences of states.
    """

    settings = ChangeActConfig
    reads_change = True

    def build_unit(self, config: ChangeActConfig, state: int) -> nn.Module:
        return HaltingUnit(2 * state, config.halting_bias)

    def read(self, units: Tensor, before: Tensor, outputs: Callable[[], Tensor]) -> Tensor:
        after, before = self.units(units), self.units(before)
        return self.unit(torch.cat([after, after - before], dim=-1))
