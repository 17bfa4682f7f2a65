"""The active examples of a batch: those that have not halted and take the next step."""

import torch
from torch import Tensor

MAX_ACTIVE_SHARE = 0.9  # remove halted examples below this share; removal costs copies


class ActiveExamples:
    """The active examples of a batch, and the steps of all examples so far.

    When fused, the active examples form a rectangle [trials, batch]: the last trials leave it once
    all their examples have halted (trials are sorted, slowest first), and each other trial keeps as
    many rows as the trial with the most active examples.

    batch: shape of the full batch, (batch,) or (trials, batch). shape: that of the active examples.
    """

    shape: tuple[int, ...]

    def __init__(self, batch: torch.Size, device: torch.device) -> None:
        self.batch = self.shape = batch
        self.original_indices = torch.arange(batch.numel(), device=device)
        self.states: list[Tensor] = []
        self.probabilities: list[Tensor] = []
        self.all_original_indices: list[Tensor] = []
        self.so_far: Tensor | None = None

    def add(self, state: Tensor, probability: Tensor) -> Tensor:
        """Record a step; return the halting probabilities of active examples [..., steps]."""
        self.states.append(state.flatten(0, -2))
        self.probabilities.append(probability.flatten())
        self.all_original_indices.append(self.original_indices)
        newest = probability.detach()[..., None]
        self.so_far = newest if self.so_far is None else torch.cat([self.so_far, newest], dim=-1)
        return self.so_far

    def indices(self, halted: Tensor) -> Tensor | None:
        """Return the indices of the examples to keep, or None if removal is not worth a copy.

        Shrinks `shape`; call `keep` with the indices next. halted: bool, of shape `shape`.
        """
        if len(self.shape) == 1:
            active = (~halted).nonzero().squeeze(1)
            if len(active) > MAX_ACTIVE_SHARE * self.shape[0]:
                return None
            self.shape = (len(active),)
            return active
        counts = (~halted).sum(dim=-1)
        size = int(counts.max())
        trials = int(counts.nonzero().max()) + 1
        if trials * size > MAX_ACTIVE_SHARE * self.shape[0] * self.shape[1]:
            return None
        order = torch.argsort(halted[:trials].byte(), dim=1, stable=True)[:, :size]
        offsets = torch.arange(trials, device=halted.device)[:, None] * self.shape[1]
        self.shape = (trials, size)
        return (order + offsets).flatten()

    def keep(self, indices: Tensor) -> None:
        """Keep only the examples at `indices`."""
        assert self.so_far is not None
        self.original_indices = self.original_indices[indices]
        self.so_far = self.rows(self.so_far, indices)

    def rows(self, values: Tensor, indices: Tensor) -> Tensor:
        """Select the examples at `indices` from values [..., size]."""
        size = values.shape[-1]
        return values.reshape(-1, size).index_select(0, indices).view(*self.shape, size)

    def trajectory(self, states: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return states [batch, steps, state] and probabilities [batch, steps], 0 after halting.

        states: the recorded states with gradients, concatenated; by default those of `add`.
        """
        steps, size = len(self.states), self.states[0].shape[1]
        at = torch.cat([part * steps + n for n, part in enumerate(self.all_original_indices)])
        count = self.batch.numel()
        states = torch.cat(self.states) if states is None else states
        flat = states.new_zeros(count * steps, size).index_copy(0, at, states)
        recorded = torch.cat(self.probabilities)
        probabilities = recorded.new_zeros(count * steps).index_copy(0, at, recorded)
        return flat.view(*self.batch, steps, size), probabilities.view(*self.batch, steps)
