"""A recurrent network with an adaptive number of steps on each input (Graves 2016, section 2)."""

from abc import abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from actmodels.by_hand.act_rnn import CellSteps, lstm_step, tanh_step
from actmodels.by_hand.parts import applies
from actmodels.configs import ActRnnConfig, AnsweringConfig
from actmodels.halting.base import Halting, Objective, build_halting
from actmodels.halting.loop import DerivedStep, adapt_steps
from actmodels.modules.linear import Linear, affine, initialize
from actmodels.modules.recurrent import LSTM, LSTMState
from actmodels.prediction import Prediction
from actmodels.registry import HaltingConfig


class RecurrentCell(nn.Module):
    """One step of a recurrent network, with the projection of the input kept apart.

    All steps on an input share its projection, computed once for whole sequences.
    """

    visible: int  # number of leading units of a state that the output and halting read
    width: int  # number of all units of a state

    @abstractmethod
    def input_map(self) -> tuple[Tensor, Tensor]:
        """Return weight [units, inputs] and bias [units] of the input projection."""

    @abstractmethod
    def step(self, projected: Tensor, state: Tensor) -> Tensor:
        """Map a projected input [batch, units] and a state to the next state [batch, width]."""

    def by_hand(self, first: Tensor, later: Tensor, start: Tensor) -> CellSteps | None:
        """Return the steps on one input with a hand-written backward pass, if there is one."""
        return None


class TanhCell(RecurrentCell):
    """s' = tanh(W x + U s + b)."""

    def __init__(self, inputs: int, state: int) -> None:
        super().__init__()
        self.visible = self.width = state
        self.input = Linear(inputs, state)
        self.recurrent = Linear(state, state, bias=False)

    def input_map(self) -> tuple[Tensor, Tensor]:
        return self.input.weight, self.input.bias

    def step(self, projected: Tensor, state: Tensor) -> Tensor:
        return torch.tanh(torch.addmm(projected, state, self.recurrent.weight.t()))

    def by_hand(self, first: Tensor, later: Tensor, start: Tensor) -> CellSteps:
        return CellSteps(tanh_step, self.recurrent.weight, first, later, start)


class LstmCell(RecurrentCell):
    """An LSTM; its state is the hidden units, which are visible, followed by the cell units."""

    def __init__(self, inputs: int, state: int) -> None:
        super().__init__()
        self.visible, self.width = state, 2 * state
        self.lstm = LSTM(inputs, state)

    def input_map(self) -> tuple[Tensor, Tensor]:
        return self.lstm.input_map()

    def step(self, projected: Tensor, state: Tensor) -> Tensor:
        hidden, cell = state.split(self.visible, dim=-1)
        return torch.cat(self.lstm.step(projected, LSTMState(hidden, cell)), dim=-1)

    def by_hand(self, first: Tensor, later: Tensor, start: Tensor) -> CellSteps:
        return CellSteps(lstm_step, self.lstm.recurrent.weight, first, later, start)


TYPES = (TanhCell, LstmCell, LSTM, Linear)  # types of the modules of a cell


class Pondered(NamedTuple):
    """Output of a network on a batch of sequences; None without halting."""

    logits: Tensor  # [batch, time, outputs]
    steps: Tensor | None  # N of each input [batch, time], 0 on padding
    ponder_cost: Tensor | None  # N + R of each input, or the cost of another mechanism, likewise
    # prediction of PonderNet or DACT in two classes; `logits` are its log-odds
    answer: Prediction | None = None


class ActRnn(nn.Module):
    """One recurrent layer with ACT, or that layer alone without halting.

    On each input x_t the cell takes steps s_n = S(s_{n-1}, [x_t; n = 1]) from s_0 = s_{t-1}. A
    unit on the visible part of s_n halts; s_t = sum p_n s_n and y_t = sum p_n (W s_n + b). Outputs
    are affine and the p_n sum to 1, so y_t = W s_t + b: one product for the whole sequence.

    PonderNet and DACT answer each s_n with log-odds W s_n + b and have no s_t. They need one input
    and one sigmoid output, as in parity (Banino et al. 2021).
    """

    halting: Objective  # a Halting, or the loss alone
    by_hand = True  # train with the hand-written backward pass, for first derivatives only

    def __init__(
        self,
        inputs: int,
        outputs: int,
        config: ActRnnConfig,
        halting: HaltingConfig | None,
    ) -> None:
        super().__init__()
        flag = 0 if halting is None else 1
        cell = TanhCell if config.cell == "rnn" else LstmCell
        self.cell: RecurrentCell = cell(inputs + flag, config.state_size)
        self.output = Linear(self.cell.visible, outputs)
        self.halting = Objective()
        if halting is not None:
            self.halting = build_halting(halting, self.cell.visible)
            self.halting.reads_first_units = True  # the visible ones
        self.answers = isinstance(halting, AnsweringConfig)
        initialize(self, config.init, config.init_std)

    def forward(self, inputs: Tensor, mask: Tensor) -> Pondered:
        """Read sequences [batch, time, inputs] with mask [batch, time] from a zero state."""
        state = inputs.new_zeros(len(inputs), self.cell.width)
        if not isinstance(self.halting, Halting):
            projected = affine(inputs, *self.cell.input_map()).unbind(1)
            states = [state := self.cell.step(each, state) for each in projected]
            return Pondered(self.outputs(states), None, None)
        weight, bias = self.cell.input_map()
        later_steps = affine(inputs, weight[:, :-1], bias)
        first_steps = later_steps + weight[:, -1]  # the flag, the last input, is 1
        each_input = (part.unbind(1) for part in (first_steps, later_steps, mask))
        predictions: list[Prediction] = []
        for first, later, real in zip(*each_input, strict=True):
            predictions.append(self.ponder(self.halting, first, later, state, real))
            state = predictions[-1].logits
        steps = per_input([one.steps for one in predictions], mask)
        ponder_cost = per_input([one.ponder_cost for one in predictions], mask)
        if self.answers:
            (answer,) = predictions
            return Pondered(answer.logits.diff()[:, None], steps, ponder_cost, answer)
        return Pondered(self.outputs([one.logits for one in predictions]), steps, ponder_cost)

    def ponder(
        self, halting: Halting, first: Tensor, later: Tensor, state: Tensor, real: Tensor
    ) -> Prediction:
        """Take steps on one input until every example has halted or the cap is reached.

        Halted examples take no step, unless too few have halted to be worth a copy.

        Args:
            first: projected input of the first step [batch, units].
            later: projected input of the later steps [batch, units].
            state: state before the input [batch, width].
            real: whether the example has an input here [batch].

        Returns:
            the prediction of the halting. Its logits are the mean state [batch, width], or those
            of PonderNet or DACT.
        """
        most: int | Tensor = halting.step_limit()
        if not bool(real.all()):  # padding takes one step
            most = torch.where(real, most, 1)
        classify = self.odds if self.answers else identity
        if derived := self.derived_step(first, later, state):
            return adapt_steps(derived, state, halting, classify, max_steps=most)
        is_first = True

        def step(state: Tensor, later: Tensor) -> Tensor:
            nonlocal is_first
            projected, is_first = first if is_first else later, False
            return self.cell.step(projected, state)

        return adapt_steps(step, state, halting, classify, inputs=later, max_steps=most)

    def derived_step(self, first: Tensor, later: Tensor, start: Tensor) -> DerivedStep | None:
        """Return the steps on one input with a hand-written derivative, if it applies."""
        if not (self.training and torch.is_grad_enabled()):
            return None
        if not applies(self, [self.cell], TYPES, first):
            return None
        return self.cell.by_hand(first, later, start)

    def odds(self, states: Tensor) -> Tensor:
        """Return logits [..., 2] whose difference is the log-odds of the sigmoid unit."""
        return pad(self.output(states[..., : self.cell.visible]), (1, 0))

    def outputs(self, states: list[Tensor]) -> Tensor:
        """Return logits [batch, time, outputs] of the states after each input."""
        return self.output(torch.stack(states, dim=1)[..., : self.cell.visible])


def identity(state: Tensor) -> Tensor:
    """Return the state, which `outputs` classifies together with those of the other inputs."""
    return state


def per_input(values: list[Tensor | None], mask: Tensor) -> Tensor | None:
    """Stack the values of each input to [batch, time], 0 on padding; None if there are none."""
    existing = [value for value in values if value is not None]
    return torch.stack(existing, dim=1) * mask if existing else None
