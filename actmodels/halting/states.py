"""States of a step function, and the examples of a batch that are active: have not halted.

States are tensors, or tuples, lists, dicts and dataclasses of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from actmodels.modules.linear import from_left

Classify = Callable[[Any], Tensor]  # states to logits [..., labels]
MAX_ACTIVE_SHARE = 0.9  # remove halted examples below this share; removal costs copies


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


class ActiveExamples:
    """The active examples of a batch, in rows of its first dimension.

    Of a batch [sentences, tokens] a row is a sentence: it leaves once all its tokens have halted.
    When fused, a batch is [trials, batch], and the active examples form a rectangle: the last
    trials leave it once all their examples have halted (trials are sorted, slowest first), and each
    other trial keeps as many rows as the trial with the most active examples.

    shape: that of the active examples. original_indices: index of each in the flat batch.
    """

    def __init__(self, batch: torch.Size, device: torch.device, *, fused: bool) -> None:
        self.shape: tuple[int, ...] = tuple(batch)
        self.original_indices = torch.arange(batch.numel(), device=device)
        self.lead = 2 if fused else 1  # number of dimensions that a selection of rows flattens
        self.changed = False  # whether examples have been removed

    def indices(self, halted: Tensor) -> Tensor | None:
        """Return the indices of the rows to keep, or None if removal is not worth a copy.

        halted: bool, of shape `shape`.
        """
        if self.lead == 1:
            done = halted if halted.dim() == 1 else halted.flatten(1).all(dim=1)
            active = (~done).nonzero().squeeze(1)
            return None if len(active) > MAX_ACTIVE_SHARE * self.shape[0] else active
        counts = (~halted).sum(dim=-1)
        size = int(counts.max())
        if size == 0:
            return self.original_indices[:0]
        trials = int(counts.nonzero().max()) + 1
        if trials * size > MAX_ACTIVE_SHARE * self.shape[0] * self.shape[1]:
            return None
        order = torch.argsort(halted[:trials].byte(), dim=1, stable=True)[:, :size]
        return order + torch.arange(trials, device=halted.device)[:, None] * self.shape[1]

    def keep(self, indices: Tensor) -> Tensor:
        """Keep only the rows at `indices`; return the indices for `rows`, flat."""
        flat, inner = indices.flatten(), self.shape[self.lead :]
        at = self.original_indices.view(-1, *inner).index_select(0, flat)
        self.original_indices = at.flatten()
        self.shape, self.changed = (*indices.shape, *inner), True
        return flat

    def rows(self, values: Any, indices: Tensor) -> Any:
        """Select the rows at `indices` from tensors [batch, ...]; scalars stay."""
        if not isinstance(values, Tensor):
            return None if values is None else each(partial(self.rows, indices=indices), values)
        if values.dim() < self.lead:
            return values
        if self.lead == 1:
            return values.index_select(0, indices)
        rest = values.shape[self.lead :]
        selected = values.reshape(-1, *rest).index_select(0, indices)
        return selected.view(*self.shape[: self.lead], *rest)
