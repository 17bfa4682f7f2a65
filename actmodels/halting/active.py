"""The active examples of a batch: those that have not halted and take the next step."""

from functools import partial
from typing import Any

import torch
from torch import Tensor

from actmodels.halting.states import each

MAX_ACTIVE_SHARE = 0.9  # remove halted examples below this share; removal costs copies


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
