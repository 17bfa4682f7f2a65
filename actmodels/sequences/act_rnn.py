"""A recurrent network that computes as long as it wants on each input (Graves 2016 section 2)."""

from abc import abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.halting.family import Halting, build_halting
from actmodels.models.running import Running
from actmodels.modules.initialisation import initialise
from actmodels.modules.linear import Linear, affine
from actmodels.modules.recurrent import LSTM, LSTMState
from actmodels.sequences.config import SequenceHaltingConfig, SequenceNetworkConfig


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
        return self.lstm.input_map()

    def step(self, contribution: Tensor, state: Tensor) -> Tensor:
        """Hidden units and cells after one step."""
        hidden, cell = state.split(self.visible, dim=-1)
        return torch.cat(self.lstm.step(contribution, LSTMState(hidden, cell)), dim=-1)


class Pondered(NamedTuple):
    """What a network makes of a batch of sequences.

    logits: [batch, time, outputs].
    steps: N of each input [batch, time], 0 on padding; None for a network without halting.
    ponder_cost: N + R of each input [batch, time], 0 on padding; None where steps cost nothing.
    """

    logits: Tensor
    steps: Tensor | None
    ponder_cost: Tensor | None


class PonderedInput(NamedTuple):
    """The mean state [batch, width] of the steps on one input; N and N + R [batch] or None."""

    state: Tensor
    steps: Tensor | None
    ponder_cost: Tensor | None


class ActRnn(nn.Module):
    """One recurrent layer with ACT around it; without halting, that layer alone.

    On each input x_t the cell takes steps s_n = S(s_{n-1}, [x_t; n = 1]) from s_0 = s_{t-1}; a
    unit on the visible part of s_n halts; s_t = sum p_n s_n and y_t = sum p_n (W s_n + b). The
    p_n sum to 1 and outputs are affine, so y_t = W s_t + b, which needs one product per sequence.

    Args:
        inputs: size of x_t.
        outputs: size of y_t.
        config: the layer.
        halting: when to stop; None takes one step on each input, without flag.
    """

    halting: Halting | None

    def __init__(
        self,
        inputs: int,
        outputs: int,
        config: SequenceNetworkConfig,
        halting: SequenceHaltingConfig,
    ) -> None:
        super().__init__()
        flag = 0 if halting is None else 1
        cell = TanhCell if config.cell == "rnn" else LstmCell
        self.cell: RecurrentCell = cell(inputs + flag, config.state_size)
        self.output = Linear(self.cell.visible, outputs)
        self.halting = None if halting is None else build_halting(halting, self.cell.visible)
        initialise(self, config.init, config.init_std)

    def forward(self, inputs: Tensor, mask: Tensor) -> Pondered:
        """Read sequences from a state of zeros.

        Args:
            inputs: [batch, time, inputs].
            mask: true where there is an input [batch, time]; the first ones of each sequence.
        """
        if self.halting is None:
            return self.plain(inputs)
        first, later = self.cell.flagged(inputs)
        reals = mask.unbind(1)
        state = inputs.new_zeros(len(inputs), self.cell.width)
        read: list[PonderedInput] = []
        for t, on_first in enumerate(first.unbind(1)):
            read.append(self.ponder(self.halting, on_first, later[:, t], state, reals[t]))
            state = read[-1].state
        logits = self.outputs([one.state for one in read])
        return Pondered(
            logits,
            per_input([one.steps for one in read], mask),
            per_input([one.ponder_cost for one in read], mask),
        )

    def ponder(
        self, halting: Halting, first: Tensor, later: Tensor, state: Tensor, real: Tensor
    ) -> PonderedInput:
        """Take steps on one input until every example has halted, or the cap is reached.

        Only examples that still run take a step, unless too few have halted to be worth the
        copying; what an example does after its own N weighs nothing.

        Args:
            first: what the input contributes to the first step.
            later: what it contributes to each later one.
            state: that behind the input before [batch, width].
            real: which examples have an input here [batch]; nobody waits for the others.
        """
        running, padding = Running(real.shape, state.device), ~real
        for number in range(halting.max_steps):
            state = self.cell.step(later if number else first, state)
            so_far = running.add(state, halting.probability(state[:, : self.cell.visible]))
            done = halting.done(so_far) | padding
            if number == halting.max_steps - 1 or bool(done.all()):
                break
            places = running.places(done)
            if places is not None:
                running.keep(places)
                state, later = running.rows(state, places), running.rows(later, places)
                padding = padding[places]
        # what a halting classifies is here the state itself: the mean of states is carried on
        answer = halting.answer(*running.trajectory(), lambda states: states)
        return PonderedInput(answer.logits, answer.steps, answer.ponder_cost)

    def plain(self, inputs: Tensor) -> Pondered:
        """One step on each input."""
        state = inputs.new_zeros(len(inputs), self.cell.width)
        states = []
        for contribution in affine(inputs, *self.cell.input_map()).unbind(1):
            state = self.cell.step(contribution, state)
            states.append(state)
        return Pondered(self.outputs(states), None, None)

    def outputs(self, states: list[Tensor]) -> Tensor:
        """Logits [batch, time, outputs] of the state behind each input."""
        visible = torch.stack(states, dim=1)[..., : self.cell.visible]
        logits: Tensor = self.output(visible)
        return logits


def per_input(values: list[Tensor | None], mask: Tensor) -> Tensor | None:
    """One value for each input [batch, time], 0 on padding; None where there is none."""
    given = [value for value in values if value is not None]
    return torch.stack(given, dim=1) * mask if given else None
