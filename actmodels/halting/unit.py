"""The unit that says, from a state, how likely inference halts there."""

import torch
from torch import Tensor, nn

from actmodels.modules.linear import Linear


class HaltingUnit(nn.Module):
    """h_n = sigmoid(w · state_n + b) (paper eq. 6).

    Args:
        state: size of the state.
        bias: start of b; 1 lets an untrained model halt at step 2, -3 at step 21. None leaves b
            out (Munkhdalai & Yu 2017 eq. 15).
    """

    def __init__(self, state: int, bias: float | None) -> None:
        super().__init__()
        self.linear = Linear(state, 1, bias=bias is not None)
        self.start_bias = bias

    def forward(self, state: Tensor) -> Tensor:
        """Map states [batch, state] to halting probabilities [batch]."""
        return torch.sigmoid(self.linear(state)).squeeze(-1)
