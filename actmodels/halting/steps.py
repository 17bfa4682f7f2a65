"""What a batch's steps leave behind, from which a halting mechanism answers; distributions of N.

A mechanism reads it by four operations, so that the loop may store less than all states: `mean`,
`outputs`, `at` and `probabilities`. All are per example; examples do not affect each other.
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from actmodels.halting.states import Classify, each
from actmodels.modules.attention import weighted_mean
from actmodels.modules.linear import from_left, per_trial, without_autocast
from actmodels.modules.recurrent import rows


class Steps:
    """Base class.

    probabilities: h_n of each step [batch, steps]; after the last step of an example any value.
    last: number of the last step of each example [batch], at which it halts; None: that of all.
    """

    probabilities: Tensor
    last: Tensor | None = None

    @property
    def batch(self) -> torch.Size:
        return self.probabilities.shape[:-1]

    def ends(self) -> Tensor:
        """Return which steps are the last one of their example: bool [batch, steps] or [steps]."""
        steps = self.probabilities.shape[-1]
        numbers = torch.arange(1, steps + 1, device=self.probabilities.device)
        return numbers == (steps if self.last is None else self.last[..., None])

    def own_ends(self) -> Tensor | None:
        """Return `ends` [batch, steps] if examples have their own; None if all end together."""
        return None if self.last is None else self.ends()

    @abstractmethod
    def mean(self, weights: Tensor) -> Any:
        """Average the states with weights [batch, steps], in the precision of the states."""

    @abstractmethod
    def outputs(self, classify: Classify) -> Tensor:
        """Return the outputs of each state [batch, steps, outputs]; after the last, any value."""

    @abstractmethod
    def at(self, numbers: Tensor) -> Any:
        """Return the states of the steps with these numbers [batch], from 1."""


class AllSteps(Steps):
    """The states of all examples at all steps; tensors [batch, steps, ...]."""

    def __init__(self, states: Any, probabilities: Tensor, last: Tensor | None = None) -> None:
        self.states, self.probabilities, self.last = states, probabilities, last

    def up_to(self, steps: int) -> "AllSteps":
        """Return the first steps."""
        part = (slice(None),) * len(self.batch) + (slice(steps),)
        states = each(lambda tensor: tensor[part], self.states)
        return AllSteps(states, self.probabilities[..., :steps], self.last)

    def reduced(self, function: Callable[[Tensor], Tensor]) -> Any:
        """Apply a function from [batch, steps, units] to [batch, units] to states of any shape."""
        dims = len(self.batch) + 1

        def reduce(states: Tensor) -> Tensor:
            flat = states.flatten(dims) if states.dim() > dims else states[..., None]
            return function(flat).reshape(*self.batch, *states.shape[dims:]).to(states.dtype)

        return each(reduce, self.states)

    def mean(self, weights: Tensor) -> Any:
        with without_autocast(weights):
            return self.reduced(lambda states: weighted_mean(states.to(weights.dtype), weights))

    def outputs(self, classify: Classify) -> Tensor:
        return classify(self.states)

    def at(self, numbers: Tensor) -> Any:
        indices = numbers[..., None].long() - 1
        return self.reduced(lambda states: rows(states, indices).squeeze(-2))


class ActiveSteps(Steps):
    """The states of the steps that examples took; tensors [rows, ...].

    index: of each row in the flat [batch, steps].
    """

    def __init__(
        self, states: Any, index: Tensor, probabilities: Tensor, last: Tensor | None = None
    ) -> None:
        self.states, self.index = states, index
        self.probabilities, self.last = probabilities, last

    def mean(self, weights: Tensor) -> Any:
        steps, at = weights.shape[-1], weights.flatten().index_select(0, self.index)
        return each(partial(self._sum, steps, at), self.states)

    def _sum(self, steps: int, weights: Tensor, states: Tensor) -> Tensor:
        """Sum the weighted rows of each example; weights: [rows]."""
        weighted = states * from_left(weights, states)
        zeros = weighted.new_zeros(self.batch.numel(), *states.shape[1:])
        total = zeros.index_add(0, self.index // steps, weighted)
        return total.view(*self.batch, *states.shape[1:]).to(states.dtype)

    def outputs(self, classify: Classify) -> Tensor:
        return scattered(classify(self.states), self.index, self.probabilities.shape)

    def at(self, numbers: Tensor) -> Any:
        steps, numbered = self.probabilities.shape[-1], torch.arange(len(self.index))
        places = self.index.new_zeros(self.probabilities.numel())
        places = places.index_copy(0, self.index, numbered.to(self.index))
        examples = torch.arange(self.batch.numel(), device=self.index.device)
        found = places.index_select(0, examples * steps + numbers.flatten().long() - 1)

        def select(states: Tensor) -> Tensor:
            return states.index_select(0, found).view(*self.batch, *states.shape[1:])

        return each(select, self.states)


class KeptSteps(Steps):
    """What a mechanism needs of each step, kept as it is taken (see `Halting.keeps`)."""

    def __init__(self, batch: torch.Size) -> None:
        self.shape = batch
        self.rows: list[Tensor] = []  # outputs of each step
        self.state: Any = None  # weighted sum of the states of each example in the flat batch
        self.index = torch.empty(0)  # see ActiveSteps

    def add(self, state: Any, weight: Tensor, at: Tensor) -> None:
        """Add the weighted states [rows, ...] of the examples with flat indices `at` [rows]."""

        def start(tensor: Tensor) -> Tensor:
            dtype = torch.promote_types(tensor.dtype, weight.dtype)
            return tensor.new_zeros(self.shape.numel(), *tensor.shape[1:], dtype=dtype)

        def add(total: Tensor, tensor: Tensor) -> Tensor:
            return total.index_add_(0, at, tensor * from_left(weight, tensor))

        if self.state is None:
            self.state, self.dtypes = each(start, state), each(lambda tensor: tensor[:0], state)
        self.state = each(add, self.state, state)

    def finish(self, index: Tensor, probabilities: Tensor, last: Tensor | None) -> "KeptSteps":
        """Set what is known after the last step."""
        self.index, self.probabilities, self.last = index, probabilities, last
        return self

    def mean(self, weights: Tensor) -> Any:
        def finish(total: Tensor, like: Tensor) -> Tensor:
            return total.to(like.dtype, copy=True).view(*self.shape, *total.shape[1:])

        return each(finish, self.state, self.dtypes)

    def at(self, numbers: Tensor) -> Any:
        return self.mean(self.probabilities)

    def outputs(self, classify: Classify) -> Tensor:
        return scattered(torch.cat(self.rows), self.index, self.probabilities.shape)


def scattered(rows: Tensor, index: Tensor, shape: torch.Size) -> Tensor:
    """Return rows [rows, outputs] at their indices in the flat [batch, steps], zeros elsewhere."""
    zeros = rows.new_zeros(shape.numel(), *rows.shape[1:])
    return zeros.index_copy(0, index, rows).view(*shape, *rows.shape[1:])


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
        crossing[..., -1].fill_(True)  # the cap
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
