"""Steps of recurrent cells with a hand-written backward pass, equal to the cells (tested)."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from actmodels.by_hand.parts import Back, StepsByHand, TensorPair, sigmoid_back, tanh_back

# Maps a projected input, a state and the transposed recurrent matrix [state, units] to the next
# state and the backward pass, from its gradient to those of the summed inputs and of the cell.
CellStep = Callable[
    [Tensor, Tensor, Tensor], tuple[Tensor, Callable[[Tensor], tuple[Tensor, Tensor | None]]]
]


def tanh_step(
    projected: Tensor, state: Tensor, recurrent: Tensor
) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor, None]]]:
    """Take a step of `TanhCell`."""
    following = torch.addmm(projected, state, recurrent).tanh_()
    return following, lambda gradient: (tanh_back(gradient, following), None)


def lstm_step(
    projected: Tensor, state: Tensor, recurrent: Tensor
) -> tuple[Tensor, Callable[[Tensor], TensorPair]]:
    """Take a step of `LstmCell`."""
    hidden, cell = state.chunk(2, -1)
    summed = torch.addmm(projected, hidden, recurrent)
    size = cell.shape[-1]
    gates, candidate = summed[:, : 3 * size].sigmoid(), summed[:, 3 * size :].tanh()
    write, keep, read = gates.chunk(3, -1)
    following = (keep * cell).addcmul_(write, candidate)
    squashed = following.tanh()

    def back(gradient: Tensor) -> TensorPair:
        to_hidden, to_cell = gradient.chunk(2, -1)
        to_cell = to_cell + tanh_back(to_hidden * read, squashed)
        to_gates = torch.cat([to_cell * candidate, to_cell * cell, to_hidden * squashed], -1)
        parts = [sigmoid_back(to_gates, gates), tanh_back(to_cell * write, candidate)]
        return torch.cat(parts, -1), to_cell * keep

    return torch.cat([read * squashed, following], -1), back


class CellSteps(StepsByHand):
    """The steps of a cell on one input of each sequence.

    Args:
        step: the cell's.
        recurrent: matrix [units, state].
        first: projected input of the first step [batch, units].
        later: projected input of the later steps [batch, units].
        start: initial state [batch, state].
    """

    def __init__(
        self, step: CellStep, recurrent: Tensor, first: Tensor, later: Tensor, start: Tensor
    ) -> None:
        super().__init__()
        self.cell_step, self.inputs = step, (recurrent, first, later, start)
        self.matrix, self.projected, self.later = (part.detach() for part in self.inputs[:3])
        self.rows = torch.arange(len(first), device=first.device)
        self.uses: list[tuple[Tensor, Tensor, Tensor]] = []  # states, gradients, rows; last first

    def advance(self, state: Tensor) -> tuple[Tensor, Back]:
        matrix, rows, projected = self.matrix, self.rows, self.projected
        following, cell_back = self.cell_step(projected, state, matrix.t())
        self.projected = self.later
        uses, size, needs_state = self.uses, matrix.shape[1], projected is self.later

        def back(gradient: Tensor) -> Tensor:
            to_summed, to_cell = cell_back(gradient)
            uses.append((state[:, :size], to_summed, rows))
            if not (needs_state or self.inputs[-1].requires_grad):
                return gradient
            to_hidden = to_summed @ matrix
            return to_hidden if to_cell is None else torch.cat([to_hidden, to_cell], -1)

        return following, back

    def select(self, indices: Tensor, active: Any) -> None:
        super().select(indices, active)
        self.later = self.projected = self.later.index_select(0, indices)
        self.rows = active.original_indices

    def gradients(self) -> list[Tensor]:
        states, to_summed, rows = (torch.cat(parts) for parts in zip(*self.uses, strict=True))
        first = self.uses[-1][1].clone()
        self.uses.clear()
        later, count = torch.zeros_like(first), len(to_summed) - len(first)
        later.index_add_(0, rows[:count], to_summed[:count])
        assert self.to_start is not None
        return [to_summed.t() @ states, first, later, self.to_start.clone()]
