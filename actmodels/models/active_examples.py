"""The active examples of a batch: those that have not halted and take the next step."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from actmodels.halting.base import Halting, PonderedHalting
from actmodels.halting.loop import Trajectory
from actmodels.halting.states import ActiveStates, Classify
from actmodels.modules.by_hand import StepsByHand
from actmodels.modules.linear import HaltingUnit
from actmodels.precision import is_autocast

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

    def add_to_sum(self, state: Tensor, probability: Tensor) -> Tensor:
        """Record a step; return the sums of the probabilities of active examples [...]."""
        self.states.append(state)
        self.probabilities.append(probability)
        self.all_original_indices.append(self.original_indices)
        self.so_far = probability if self.so_far is None else self.so_far + probability
        return self.so_far

    def indices(self, halted: Tensor) -> Tensor | None:
        """Return the indices of the examples to keep, or None if removal is not worth a copy.

        Shrinks `shape`; call `keep` with the indices next, unless all examples have halted.

        Args:
            halted: bool, of shape `shape`.
        """
        if len(self.shape) == 1:
            active = (~halted).nonzero().squeeze(1)
            if len(active) > MAX_ACTIVE_SHARE * self.shape[0]:
                return None
            self.shape = (len(active),)
            return active
        counts = (~halted).sum(dim=-1)
        size = int(counts.max())
        if size == 0:
            return self.original_indices[:0]
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
        self.original_indices = self.original_indices.index_select(0, indices)
        if self.so_far.dim() == 1:
            self.so_far = self.so_far.index_select(0, indices)
        else:
            self.so_far = self.rows(self.so_far, indices)

    def rows(self, values: Tensor, indices: Tensor) -> Tensor:
        """Select the examples at `indices` from values [..., size]."""
        size = values.shape[-1]
        return values.reshape(-1, size).index_select(0, indices).view(*self.shape, size)

    def trajectory(self, states: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return states [batch, steps, state] and probabilities [batch, steps], 0 after halting.

        states: the recorded states with gradients, concatenated; by default those of `add`.
        """
        active, probabilities = self.active_trajectory(
            torch.cat(self.states) if states is None else states
        )
        size = active.states.shape[1]
        zeros = active.states.new_zeros(probabilities.numel(), size)
        dense = zeros.index_copy(0, active.at, active.states)
        return dense.view(*probabilities.shape, size), probabilities

    def active_trajectory(
        self, states: Tensor, zero: Tensor | None = None
    ) -> tuple[ActiveStates, Tensor]:
        """Return states and probabilities [batch, steps]; zero: added to the probabilities."""
        steps = len(self.states)
        recorded, examples = torch.cat(self.probabilities), torch.cat(self.all_original_indices)
        sizes = torch.tensor([len(part) for part in self.all_original_indices])
        numbers = torch.arange(steps).repeat_interleave(sizes).to(examples.device)
        at = examples * steps + numbers
        recorded = recorded if zero is None else recorded + zero
        probabilities = recorded.new_zeros(self.batch.numel() * steps).index_copy(0, at, recorded)
        return ActiveStates(states, at), probabilities.view(*self.batch, steps)


def unroll_active(
    computation: StepsByHand,
    step: Callable[[Tensor], Tensor],
    start: Tensor,
    halting: Halting,
    classify: Classify,
    max_steps: int,
    batch: torch.Size,
    padding: Tensor | None = None,
) -> Trajectory[Any]:
    """Apply at most `max_steps` steps to the active examples, with one backward pass for all.

    Equals `halting.loop.unroll` up to rounding, except for steps after halting, which are zeros.
    The states are `ActiveStates` if the halting mechanism mixes them.

    Args:
        step: calls `computation.step`.
        start: initial states [batch, state].
        batch: shape of the batch.
        padding: which examples take one step only [batch].
    """
    active = ActiveExamples(batch, start.device)
    with torch.inference_mode():
        read, state = reader(active, halting, classify), start
        for number in range(max_steps):
            before, state = state, step(state)
            halted = read(state, before)
            if number == max_steps - 1:
                break
            indices = active.indices(halted if padding is None else halted | padding)
            if indices is None:
                continue
            if not len(indices):
                break
            active.keep(indices)
            computation.select(indices, active)
            state = active.rows(state, indices)
            padding = None if padding is None else padding.index_select(0, indices)
    # Recompute for the gradients of all steps; keep the exact values by which examples halted.
    states = computation.apply()
    if halting.mixes_states and not halting.reads_change and not halting.fused:
        again = halting.read(states, states, classify)
        return Trajectory(*active.active_trajectory(states, again - again.detach()))
    states, probabilities = active.trajectory(states)
    before = states
    if halting.reads_change:
        before = torch.cat([start[..., None, :], states[..., :-1, :]], dim=-2)
    again = halting.read(states, before, classify)
    return Trajectory(states, probabilities + (again - again.detach()))


def reader(
    active: ActiveExamples, halting: Halting, classify: Classify
) -> Callable[[Tensor, Tensor], Tensor]:
    """Return the function that records a step and returns which active examples have halted."""
    unit: HaltingUnit | None = None
    epsilon: float | Tensor = 0.0
    if isinstance(halting, PonderedHalting):
        unit, epsilon = halting.summed_unit(), halting.epsilon
    if unit is None or unit.linear.bias is None or is_autocast(unit.linear.weight):
        return lambda state, before: halting.has_halted(
            active.add(state, halting.read(state, before, classify))
        )
    bias, vector, size = unit.linear.bias, unit.linear.weight[0], unit.linear.weight.shape[1]
    # Rounding must not end the steps of an example before `truncate` does.
    threshold = (1 - epsilon) * (1 + 1e-6)

    def read(state: Tensor, _: Tensor) -> Tensor:
        probability = torch.addmv(bias, state[:, :size], vector).sigmoid_()
        return ~(active.add_to_sum(state, probability) < threshold)  # nan halts as well

    return read
