"""From states to a distribution over an example's steps: how much each of them counts."""

from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.modules.linear import per_trial


class Halted(NamedTuple):
    """Where each example halted.

    weights: of each state [batch, steps], sum 1. steps: N [batch], no gradient. remainder: R, the
    weight of step N [batch].
    """

    weights: Tensor
    steps: Tensor
    remainder: Tensor

    @property
    def ponder_cost(self) -> Tensor:
        """N + R [batch]; its gradient reaches the halting probabilities through R alone."""
        return self.steps + self.remainder


def until(masses: Tensor, epsilon: float | Tensor) -> Halted:
    """Truncate a distribution where little is left, for each example alone.

    N is the first n with c_n = m_1 + ... + m_n >= 1 - epsilon, or the last step (the cap). The
    weight of step n is m_n before N, R = 1 - c_{N-1} at N, and 0 after it.

    masses: m_n >= 0 [batch, steps]; steps after N change nothing. epsilon: in a pack [trials].
    """
    before = torch.cumsum(masses, dim=-1) - masses  # c_{n-1}
    enough = per_trial(1 - epsilon, before)
    running = before < enough
    # Rounding in the subtraction must not keep a first step from running.
    running = torch.cat([torch.ones_like(running[..., :1]), running[..., 1:]], dim=-1)
    crossing = before + masses >= enough
    capped = torch.zeros_like(crossing)
    capped[..., -1] = True
    last = running & (crossing | capped)
    remainder = torch.where(last, 1 - before, torch.zeros_like(before)).sum(dim=-1)
    weights = torch.where(last, 1 - before, masses) * running
    return Halted(weights, running.sum(dim=-1).to(masses.dtype), remainder)


def first_halts(probabilities: Tensor) -> Tensor:
    """h_n (1 - h_1) ... (1 - h_{n-1}) [batch, steps]: the probability that step n halts first."""
    return probabilities * still_open(probabilities)[1]


def still_open(probabilities: Tensor) -> tuple[Tensor, Tensor]:
    """p_n = (1 - h_1) ... (1 - h_n) and p_{n-1}, each [batch, steps]; p_0 = 1."""
    after = torch.cumprod(1 - probabilities, dim=-1)
    return after, torch.cat([torch.ones_like(after[..., :1]), after[..., :-1]], dim=-1)
