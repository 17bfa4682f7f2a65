"""The GRU cell of Cho et al. 2014 in TensorFlow's form, which the 2016 code used."""

import torch
from torch import Tensor, nn


class GRUCell(nn.Module):
    """One recurrent step with one bias per gate.

    r, u = sigmoid(W [x; s] + b);  c = tanh(W_c x + U_c (r * s) + b_c);  s' = u * s + (1 - u) * c

    Not torch.nn.GRUCell: that has two biases and applies the reset gate after U_c. The biases
    of r and u start at 1, as TensorFlow's do, so that the state persists at first.
    """

    def __init__(self, inputs: int, state: int) -> None:
        super().__init__()
        self.gates = nn.Linear(inputs + state, 2 * state)
        self.candidate = nn.Linear(inputs + state, state)

    def forward(self, inputs: Tensor, state: Tensor) -> Tensor:
        """Map inputs [batch, inputs] and state [batch, state] to the new state."""
        gates = torch.sigmoid(self.gates(torch.cat([inputs, state], dim=1)))
        reset, update = gates.chunk(2, dim=1)
        candidate = torch.tanh(self.candidate(torch.cat([inputs, reset * state], dim=1)))
        return update * state + (1 - update) * candidate
