"""How a model's parameters start."""

import torch
from torch import nn

from actmodels.modules.linear import HaltingUnit
from actmodels.modules.recurrent import GRUCell
from actmodels.settings import Init


@torch.no_grad()
def initialise(model: nn.Module, init: Init, std: float) -> None:
    """Draw weights (`xavier`: Glorot & Bengio 2010; `normal`: N(0, std)), and set the biases."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            if init == "xavier":
                nn.init.xavier_uniform_(module.weight)
            else:
                nn.init.normal_(module.weight, std=std)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    for module in model.modules():
        if isinstance(module, GRUCell):
            nn.init.ones_(module.gates.bias)
        elif isinstance(module, HaltingUnit) and module.start_bias is not None:
            nn.init.constant_(module.linear.bias, module.start_bias)
