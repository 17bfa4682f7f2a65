"""States of a step function: tensors, or tuples, lists, dicts and dataclasses of them."""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

from actmodels.modules.linear import from_left

State = TypeVar("State")
Classify = Callable[[Any], Tensor]  # states to logits [..., labels]


def each(function: Callable[..., Tensor], *states: Any) -> Any:
    """Apply a function to the tensors of states of one structure; other values stay."""
    first = states[0]
    if isinstance(first, Tensor):
        return function(*states)
    if isinstance(first, dict):
        return type(first)((key, each(function, *(s[key] for s in states))) for key in first)
    if isinstance(first, tuple | list):
        parts = [each(function, *part) for part in zip(*states, strict=True)]
        make = getattr(type(first), "_make", type(first))  # a NamedTuple has _make
        return make(parts)
    if is_dataclass(first) and not isinstance(first, type):
        names = [field.name for field in fields(first)]
        return replace(
            first, **{n: each(function, *(getattr(s, n) for s in states)) for n in names}
        )
    return first


def tensors(state: Any) -> Iterator[Tensor]:
    """Yield the tensors of a state in order; the first is the one that halting reads."""
    if isinstance(state, Tensor):
        yield state
    elif isinstance(state, dict):
        for part in state.values():
            yield from tensors(part)
    elif isinstance(state, tuple | list):
        for part in state:
            yield from tensors(part)
    elif is_dataclass(state):
        for field in fields(state):
            yield from tensors(getattr(state, field.name))


def first_tensor(state: Any) -> Tensor:
    """Return the tensor that halting reads."""
    return state if isinstance(state, Tensor) else next(tensors(state))


def batch_of(state: Any, batch_dims: int | None) -> torch.Size:
    """Return the shape of the batch: the leading dimensions that all tensors share.

    batch_dims: how many dimensions these are; None: one, of tensors [batch, state].

    Raises:
        ValueError: the number is ambiguous, or the tensors do not share the dimensions.
    """
    shapes = [tensor.shape for tensor in tensors(state)]
    if not shapes:
        raise ValueError(f"the state has no tensor: {type(state).__name__}")
    if batch_dims is None:
        if len(shapes[0]) > 2:
            raise ValueError(
                f"the state that halting reads is {list(shapes[0])}; its examples may be "
                f"{list(shapes[0][:1])} or {list(shapes[0][:-1])}: pass batch_dims=, the number of "
                "leading dimensions that are examples"
            )
        batch_dims = len(shapes[0]) - 1
    batch = shapes[0][:batch_dims]
    if batch_dims < 0 or any(shape[:batch_dims] != batch for shape in shapes):
        listed = ", ".join(str(list(shape)) for shape in shapes)
        raise ValueError(
            f"the tensors of the state are {listed}; expected the examples {list(batch)} as the "
            f"{batch_dims} leading dimensions of each"
        )
    return batch


def unless(halted: Tensor, after: Tensor, before: Tensor) -> Tensor:
    """Return the state before the step where an example has halted, and the next one elsewhere."""
    return torch.where(from_left(halted, after), before, after)


def read_units(state: Any, batch_dims: int) -> Tensor:
    """Return the first tensor of a state as [batch, units]."""
    units = first_tensor(state)
    return units.flatten(batch_dims) if units.dim() > batch_dims + 1 else units
