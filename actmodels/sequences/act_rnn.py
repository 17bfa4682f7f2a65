"""A recurrent network that computes as long as it wants on each input (Graves 2016 section 2)."""

from abc import abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from actmodels.halting.base import Halting, build_halting
from actmodels.models.active_examples import ActiveExamples
from actmodels.modules.linear import Linear, affine, initialize
from actmodels.modules.recurrent import LSTM, LSTMState
from actmodels.prediction import Prediction
from actmodels.sequences.config import AnsweringConfig, SequenceHaltingConfig, SequenceNetworkConfig


class RecurrentCell(nn.Module):
    """One step of a recurrent network, split into the input's contribution and the rest.

    All steps on an input share its contribution, computed once for whole sequences. visible: the
    first numbers of a state, which outputs and halting may read. width: all numbers of a state.
    """

    visible: int
    width: int

    @abstractmethod
    def input_map(self) -> tuple[Tensor, Tensor]:
        """Weight [units, inputs] and bias [units] of what an input contributes."""

    @abstractmethod
    def step(self, contribution: Tensor, state: Tensor) -> Tensor:
        """The next state [batch, width], with what the input contributes [batch, units]."""

    def flagged(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Contributions of inputs with 1 (first step) and 0 (later ones) as last entry."""
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
        return self.input.weight, self.input.bias

    def step(self, contribution: Tensor, state: Tensor) -> Tensor:
        return torch.tanh(torch.addmm(contribution, state, self.recurrent.weight.t()))


class LstmCell(RecurrentCell):
    """An LSTM; its state is the hidden units, which are visible, and then the cells."""

    def __init__(self, inputs: int, state: int) -> None:
        super().__init__()
        self.visible, self.width = state, 2 * state
        self.lstm = LSTM(inputs, state)

    def input_map(self) -> tuple[Tensor, Tensor]:
        return self.lstm.input_map()

    def step(self, contribution: Tensor, state: Tensor) -> Tensor:
        hidden, cell = state.split(self.visible, dim=-1)
        return torch.cat(self.lstm.step(contribution, LSTMState(hidden, cell)), dim=-1)


class Pondered(NamedTuple):
    """A network's output on a batch of sequences.

    logits: [batch, time, outputs]. steps: N of each input [batch, time], 0 on padding; None without
    halting. ponder_cost: N + R of each input, or another halting's cost, likewise. answer: of a
    halting that answers in two classes; `logits` has their log-odds.
    """

    logits: Tensor
    steps: Tensor | None
    ponder_cost: Tensor | None
    answer: Prediction | None = None


class ActRnn(nn.Module):
    """One recurrent layer with ACT around it; without halting, that layer alone.

    On each input x_t the cell takes steps s_n = S(s_{n-1}, [x_t; n = 1]) from s_0 = s_{t-1}; a
    unit on the visible part of s_n halts; s_t = sum p_n s_n and y_t = sum p_n (W s_n + b). The
    p_n sum to 1 and outputs are affine, so y_t = W s_t + b, which needs one product per sequence.

    PonderNet and DACT answer each s_n, with W s_n + b as log-odds, and have no s_t to carry on:
    they need one input and one sigmoid output, such as Banino et al.'s (2021) parity.
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
        self.answers = isinstance(halting, AnsweringConfig)
        initialize(self, config.init, config.init_std)

    def forward(self, inputs: Tensor, mask: Tensor) -> Pondered:
        """Read sequences [batch, time, inputs] from a state of zeros; mask [batch, time]."""
        state = inputs.new_zeros(len(inputs), self.cell.width)
        if self.halting is None:
            shares = affine(inputs, *self.cell.input_map()).unbind(1)
            states = [state := self.cell.step(share, state) for share in shares]
            return Pondered(self.outputs(states), None, None)
        first, later = self.cell.flagged(inputs)
        reals = mask.unbind(1)
        read: list[Prediction] = []
        for t, on_first in enumerate(first.unbind(1)):
            read.append(self.ponder(self.halting, on_first, later[:, t], state, reals[t]))
            state = read[-1].logits
        steps = per_input([one.steps for one in read], mask)
        ponder_cost = per_input([one.ponder_cost for one in read], mask)
        if self.answers:
            (answer,) = read
            return Pondered(answer.logits.diff()[:, None], steps, ponder_cost, answer)
        return Pondered(self.outputs([one.logits for one in read]), steps, ponder_cost)

    def ponder(
        self, halting: Halting, first: Tensor, later: Tensor, state: Tensor, real: Tensor
    ) -> Prediction:
        """Take steps on one input until every example has halted, or the cap is reached.

        Only examples that still run take a step, unless too few have halted to be worth copying.
        first, later: the input's contribution to the first step, and to each later one. state:
        before the input [batch, width]. real: examples that have an input here [batch].

        Return the answer of the halting; its logits are the mean state [batch, width], unless the
        halting answers alone.
        """
        running, padding = ActiveExamples(real.shape, state.device), ~real
        for number in range(halting.max_steps):
            state = self.cell.step(later if number else first, state)
            so_far = running.add(state, halting.probability(state))
            done = halting.has_halted(so_far) | padding
            if number == halting.max_steps - 1 or bool(done.all()):
                break
            indices = running.indices(done)
            if indices is not None:
                running.keep(indices)
                state, later = running.rows(state, indices), running.rows(later, indices)
                padding = padding[indices]
        states, probabilities = running.trajectory()
        return halting.answer(states, probabilities, self.odds if self.answers else lambda s: s)

    def odds(self, states: Tensor) -> Tensor:
        """Logits [..., 2] of no and yes, whose difference is the sigmoid unit's log-odds."""
        return pad(self.output(states[..., : self.cell.visible]), (1, 0))

    def outputs(self, states: list[Tensor]) -> Tensor:
        """Logits [batch, time, outputs] of the state behind each input."""
        return self.output(torch.stack(states, dim=1)[..., : self.cell.visible])


def per_input(values: list[Tensor | None], mask: Tensor) -> Tensor | None:
    """One value for each input [batch, time], 0 on padding; None where there is none."""
    given = [value for value in values if value is not None]
    return torch.stack(given, dim=1) * mask if given else None
