"""Distributions over steps: truncation at 1 - epsilon, halting step by step, and exits."""

from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.halting.steps import Steps
from actmodels.modules.linear import per_trial


class Halted(NamedTuple):
    """Halting of a batch."""

    weights: Tensor  # weight of each state [batch, steps], sum 1
    steps: Tensor  # N [batch], without gradient
    remainder: Tensor  # R, the weight of step N [batch]

    @property
    def ponder_cost(self) -> Tensor:
        """N + R [batch]; its gradient reaches the halting probabilities through R alone."""
        return self.steps + self.remainder


def truncate(distribution: Tensor, epsilon: float | Tensor, ends: Tensor | None = None) -> Halted:
    """Truncate a distribution over steps, separately for each example (Graves 2016 section 2).

    N is the first n with c_n = m_1 + ... + m_n >= 1 - epsilon, or the last step (the cap). The
    weight of step n is m_n before N, R = 1 - c_{N-1} at N, and 0 after N.

    Args:
        distribution: m_n >= 0 [batch, steps]; steps after N have no effect.
        epsilon: when fused [trials].
        ends: which step is the last one, bool [batch, steps]; by default that of all.
    """
    before = torch.cumsum(distribution, dim=-1) - distribution  # c_{n-1}
    threshold = per_trial(1 - epsilon, before)
    taken = before < threshold
    # The first step is always taken; rounding in the subtraction must not prevent it.
    taken = torch.cat([torch.ones_like(taken[..., :1]), taken[..., 1:]], dim=-1)
    crossing = before + distribution >= threshold
    if ends is None:
        crossing[..., -1] = True  # the cap
    else:  # nothing after the last step of an example
        taken = taken & (torch.cumsum(ends, dim=-1) - ends.long() == 0)
        crossing = crossing | ends
    last = taken & crossing
    remainder = torch.where(last, 1 - before, torch.zeros_like(before)).sum(dim=-1)
    weights = torch.where(last, 1 - before, distribution) * taken
    return Halted(weights, taken.sum(dim=-1).to(distribution.dtype), remainder)


def at_first(exits: Tensor | None, steps: Steps) -> tuple[Tensor, Tensor]:
    """Return one-hot weights [batch, steps] and number [batch] of the step of each exit.

    exits: where a rule holds, bool [batch, steps]; the first counts, else the last step.
    """
    ends = steps.ends().expand(steps.probabilities.shape)
    exits = ends if exits is None else exits | ends
    weights = (exits & (torch.cumsum(exits, dim=-1) == 1)).to(steps.probabilities.dtype)
    numbers = torch.arange(1, weights.shape[-1] + 1, device=weights.device)
    return weights, (weights * numbers).sum(dim=-1)


def first_exit(exits: Tensor, ends: Tensor | None) -> Tensor:
    """Return 1.0 where the newest step is the first exit, else 0.0 [batch].

    exits: where a rule holds, bool [batch, steps]. ends: who takes no further step [batch].
    """
    now = exits[..., -1] if ends is None else exits[..., -1] | ends
    return (now & ~exits[..., :-1].any(dim=-1)).float()


def halting_distribution(probabilities: Tensor) -> Tensor:
    """Return h_n (1 - h_1) ... (1 - h_{n-1}) [batch, steps], the probability of halting at n."""
    return probabilities * survival(probabilities)[1]


def survival(probabilities: Tensor) -> tuple[Tensor, Tensor]:
    """Return p_n = (1 - h_1) ... (1 - h_n), and p_{n-1} with p_0 = 1, each [batch, steps]."""
    remaining = 1 - probabilities
    if torch.compiler.is_compiling():  # ONNX has no cumulative product
        products = [remaining[..., 0]]
        for one in remaining.unbind(dim=-1)[1:]:
            products.append(products[-1] * one)
        after = torch.stack(products, dim=-1)
    else:
        after = torch.cumprod(remaining, dim=-1)
    return after, torch.cat([torch.ones_like(after[..., :1]), after[..., :-1]], dim=-1)
