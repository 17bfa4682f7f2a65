"""States of a step function: tensors, or tuples of tensors such as the (h, c) of an LSTM."""

from collections.abc import Callable
from typing import Any, TypeVar

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


def mean_state(states: Any, weights: Tensor) -> Any:
    """Average states [batch, steps, state] with weights [batch, steps], in their precision."""

    def average(states: Tensor) -> Tensor:
        return weighted_mean(states.to(weights.dtype), weights).to(states.dtype)

    with without_autocast(weights):
        return each(average, states)
