"""Recurrent cells that take several steps on one input (Graves 2016 section 2)."""

from abc import abstractmethod

import torch
from torch import Tensor, nn

from actmodels.modules.linear import Linear, affine
from actmodels.modules.recurrent import LSTM, LSTMState
from actmodels.sequences.config import Cell


class RecurrentCell(nn.Module):
    """One step of a recurrent network, split into what depends on the input and the rest.

    The same input serves all steps that are taken on it, so what it contributes is computed once
    for whole sequences.

    Attributes:
        visible: how many numbers of a state, the first ones, outputs and halting may read.
        width: how many numbers a state has.
    """

    visible: int
    width: int

    @abstractmethod
    def input_map(self) -> tuple[Tensor, Tensor]:
        """Weight [units, inputs] and bias [units] of what an input contributes."""

    @abstractmethod
    def step(self, contribution: Tensor, state: Tensor) -> Tensor:
        """The next state [batch, width].

        Args:
            contribution: of the input [batch, units]. state: [batch, width].
        """

    def contributions(self, inputs: Tensor) -> Tensor:
        """What inputs [..., inputs] contribute, without a flag [..., units]."""
        return affine(inputs, *self.input_map())

    def flagged(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """What inputs [..., inputs - 1] contribute with a flag 1 and 0 as their last entry.

        The flag tells the first step on an input from a later one: two equal inputs are not one
        that is computed on for longer.
        """
        weight, bias = self.input_map()
        later = affine(inputs, weight[:, :-1], bias)
        return later + weight[:, -1], later


class TanhCell(RecurrentCell):
    """s' = tanh(W x + U s + b)."""

    def __init__(self, inputs: int, state: int) -> None:
        super().__init__()
        self.visible = self.width = state
        self.input = Linear(inputs, state)
        self.recurrent = Linear(state, state, bias=False)

    def input_map(self) -> tuple[Tensor, Tensor]:
        """W and b."""
        return self.input.weight, self.input.bias

    def step(self, contribution: Tensor, state: Tensor) -> Tensor:
        """The new hidden units; U s and the sum are one operation."""
        return torch.tanh(torch.addmm(contribution, state, self.recurrent.weight.t()))


class LstmCell(RecurrentCell):
    """An LSTM; its state is the hidden units, which are visible, and then the cells."""

    def __init__(self, inputs: int, state: int) -> None:
        super().__init__()
        self.visible, self.width = state, 2 * state
        self.lstm = LSTM(inputs, state)

    def input_map(self) -> tuple[Tensor, Tensor]:
        """Of the three gates and the candidate, with the forget gate's constant."""
        return self.lstm.input.weight, self.lstm.input.bias + self.lstm.forget_bias

    def step(self, contribution: Tensor, state: Tensor) -> Tensor:
        """Hidden units and cells after one step."""
        hidden, cell = state.split(self.visible, dim=-1)
        return torch.cat(self.lstm.step(contribution, LSTMState(hidden, cell)), dim=-1)


def build_cell(kind: Cell, inputs: int, state: int) -> RecurrentCell:
    """The cell that a configuration names."""
    return TanhCell(inputs, state) if kind == "rnn" else LstmCell(inputs, state)
