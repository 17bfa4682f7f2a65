"""The examples of a batch, or of a fusion, that have not halted yet: only these take a step."""

import torch
from torch import Tensor

from actmodels.modules.inference import GateDropout

ENOUGH_LEFT = 0.9  # take rows out once fewer than this share still runs; copying has its price


class ActiveExamples:
    """Which examples still run, and their steps so far.

    In a fusion the examples of all trials form a rectangle [trials, batch]: the last trials leave
    it when all have halted (a fusion sorts its trials, slowest first); each other trial keeps as
    many rows as the one with the most. `batch` is the shape (batch,) or (trials, batch), `shape`
    that of the rectangle now.
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
        """Add a step; return the probabilities so far of the running [..., steps]."""
        self.states.append(state.flatten(0, -2))
        self.probabilities.append(probability.flatten())
        self.all_original_indices.append(self.original_indices)
        newest = probability.detach()[..., None]
        self.so_far = newest if self.so_far is None else torch.cat([self.so_far, newest], dim=-1)
        return self.so_far

    def indices(self, done: Tensor) -> Tensor | None:
        """Indices in the rectangle of the examples that go on; None if copying costs more."""
        if len(self.shape) == 1:
            running = (~done).nonzero().squeeze(1)
            if len(running) > ENOUGH_LEFT * self.shape[0]:
                return None
            self.shape = (len(running),)
            return running
        left = (~done).sum(dim=-1)
        size = int(left.max())
        trials = int(left.nonzero().max()) + 1
        if trials * size > ENOUGH_LEFT * self.shape[0] * self.shape[1]:
            return None
        order = torch.argsort(done[:trials].byte(), dim=1, stable=True)[:, :size]
        firsts = torch.arange(trials, device=done.device)[:, None] * self.shape[1]
        self.shape = (trials, size)
        return (order + firsts).flatten()

    def keep(self, indices: Tensor) -> None:
        assert self.so_far is not None
        self.original_indices = self.original_indices[indices]
        self.so_far = self.rows(self.so_far, indices)

    def rows(self, values: Tensor, indices: Tensor) -> Tensor:
        """The values [..., size] of those that go on."""
        size = values.shape[-1]
        return values.reshape(-1, size).index_select(0, indices).view(*self.shape, size)

    def dropout(self, dropout: GateDropout, indices: Tensor) -> GateDropout:
        """The masks of those that go on; a mask that is a single 1 serves all."""
        return GateDropout(*(m if m.dim() == 0 else self.rows(m, indices) for m in dropout))

    def trajectory(self, states: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """States (`states`, or those added) and probabilities [batch, steps]; 0 after halting."""
        steps, size = len(self.states), self.states[0].shape[1]
        at = torch.cat([part * steps + n for n, part in enumerate(self.all_original_indices)])
        count = self.batch.numel()
        states = torch.cat(self.states) if states is None else states
        flat = states.new_zeros(count * steps, size).index_copy(0, at, states)
        probabilities = torch.cat(self.probabilities)
        chances = probabilities.new_zeros(count * steps).index_copy(0, at, probabilities)
        return flat.view(*self.batch, steps, size), chances.view(*self.batch, steps)
