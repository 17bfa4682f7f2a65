"""Adaptive Computation Time for one sequence per example (Graves 2016 section 2; paper app. C)."""

from typing import NamedTuple

import torch
from torch import Tensor, nn


class Halted(NamedTuple):
    """Where each example halted.

    weights: [batch, steps], what each state counts; zero after the last step, sum 1.
    steps: [batch], N, the number of steps taken (no gradient).
    remainder: [batch], R, the weight of step N.
    """

    weights: Tensor
    steps: Tensor
    remainder: Tensor

    @property
    def ponder_cost(self) -> Tensor:
        """N + R [batch]; its gradient reaches the halting probabilities through R alone."""
        return self.steps + self.remainder


def act(probabilities: Tensor, epsilon: float) -> Halted:
    """Turn halting probabilities into weights, each example by itself.

    With c_n = h_1 + ... + h_n: N is the first n with c_n >= 1 - epsilon, or the last step given
    (the cap); the weight of step n is h_n before N, R = 1 - c_{N-1} at N, and 0 after it.
    In the 2016 code the remainder fell on the state of the batch's last step instead.

    Args:
        probabilities: h_n in (0, 1), [batch, steps]; more steps than needed change nothing.
        epsilon: an example halts once its probabilities reach 1 - epsilon.
    """
    before = torch.cumsum(probabilities, dim=1) - probabilities  # c_{n-1}
    running = before < 1 - epsilon
    # Rounding in the subtraction must not keep a first step from running.
    running = torch.cat([torch.ones_like(running[:, :1]), running[:, 1:]], dim=1)
    crossing = before + probabilities >= 1 - epsilon
    capped = torch.zeros_like(crossing)
    capped[:, -1] = True
    last = running & (crossing | capped)
    remainder = torch.where(last, 1 - before, torch.zeros_like(before)).sum(dim=1)
    weights = torch.where(last, 1 - before, probabilities) * running
    return Halted(weights, running.sum(dim=1).to(probabilities.dtype), remainder)


class HaltingUnit(nn.Module):
    """h_n = sigmoid(w · state_n + b) (paper eq. 6).

    Args:
        state: size of the state.
        bias: start of b; 1 lets an untrained model halt at step 2, -3 at step 21.
    """

    def __init__(self, state: int, bias: float) -> None:
        super().__init__()
        self.linear = nn.Linear(state, 1)
        self.start_bias = bias

    def forward(self, state: Tensor) -> Tensor:
        """Map states [batch, state] to halting probabilities [batch]."""
        return torch.sigmoid(self.linear(state)).squeeze(1)
