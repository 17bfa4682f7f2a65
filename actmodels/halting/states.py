"""States of a step function: tensors, or tuples of tensors such as the (h, c) of an LSTM."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from torch import Tensor

from actmodels.modules.attention import weighted_mean
from actmodels.precision import without_autocast

State = TypeVar("State", bound=Tensor | tuple[Tensor, ...])
Classify = Callable[[Any], Tensor]  # states [..., state], or tuples of them, to [..., labels]


def each(function: Callable[..., Tensor], *states: Any) -> Any:
    """Apply a function to tensors, or to the parts of tuples such as the (h, c) of an LSTM."""
    if isinstance(states[0], Tensor):
        return function(*states)
    make = getattr(type(states[0]), "_make", type(states[0]))  # a NamedTuple has _make
    return make([function(*parts) for parts in zip(*states, strict=True)])


class ActiveStates(NamedTuple):
    """The states of the steps that examples took, without the steps after halting."""

    states: Tensor  # [rows, state]
    at: Tensor  # index of each in [batch, steps], flattened [rows]

    def mean(self, weights: Tensor) -> Tensor:
        """Average with weights [batch, steps] to [batch, state]."""
        *batch, steps = weights.shape
        weighted = self.states * weights.flatten().index_select(0, self.at)[:, None]
        zeros = weighted.new_zeros(weights.numel() // steps, self.states.shape[-1])
        mean = zeros.index_add(0, self.at // steps, weighted)
        return mean.view(*batch, -1).to(self.states.dtype)


def mean_state(states: Any, weights: Tensor) -> Any:
    """Average states [batch, steps, state] with weights [batch, steps], in their precision."""
    if isinstance(states, ActiveStates):
        return states.mean(weights)

    def average(states: Tensor) -> Tensor:
        return weighted_mean(states.to(weights.dtype), weights).to(states.dtype)

    with without_autocast(weights):
        return each(average, states)
