"""What a batch's steps leave behind, from which a halting mechanism answers.

A mechanism reads it by four operations, so that the loop may store less than all states: `mean`,
`outputs`, `at` and `probabilities`. All are per example; examples do not affect each other.
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from actmodels.halting.states import Classify, each
from actmodels.modules.attention import weighted_mean
from actmodels.modules.linear import from_left
from actmodels.modules.recurrent import rows
from actmodels.precision import without_autocast


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
