"""Recurrent cells that halt: the papers' equations, torch's layers, and invariances."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from actmodels.configs import ActRnnConfig, AnsweringConfig, FixedStepsConfig
from actmodels.models.act_rnn import ActRnn
from studies.sequences.config import (
    LogicConfig,
    ParityConfig,
    SequenceHaltingConfig,
)
from studies.sequences.task import SequenceBatch
from studies.sequences.training import build_task, evaluate, score
from tests.studies.sequences.samples import ACT, DACT, PONDER_NET

TASK = build_task(LogicConfig(vectors=4, gates=3))
PARITY = build_task(ParityConfig(bits=6))
CELLS = ("rnn", "lstm")
PARTS = pytest.mark.parametrize(("cell", "parts"), [("rnn", 1), ("lstm", 2)])


def make(cell: Any, halting: SequenceHaltingConfig) -> ActRnn:
    torch.manual_seed(1)
    config = ActRnnConfig(cell=cell, state_size=5, init="normal", init_std=0.6)
    task = PARITY if isinstance(halting, AnsweringConfig) else TASK
    return ActRnn(task.inputs, task.outputs.size, config, halting).double()


def sample(count: int = 12, halting: SequenceHaltingConfig = None) -> Any:
    task = PARITY if isinstance(halting, AnsweringConfig) else TASK
    batch = task.sample(count, torch.Generator().manual_seed(4))
    return batch._replace(inputs=batch.inputs.double())


def trained_on(model: ActRnn, batch: SequenceBatch) -> Tensor:
    task = PARITY if model.answers else TASK
    return score(task.outputs, model(batch.inputs, batch.mask), batch).objective(model.halting)


def slow_step(model: ActRnn, vector: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """S(state, vector): (hidden,) of an RNN, (hidden, cell) of an LSTM."""
    named = dict(model.cell.named_parameters(remove_duplicate=False))
    prefix = "lstm." if len(state) == 2 else ""
    summed = (
        named[f"{prefix}input.weight"] @ vector
        + named[f"{prefix}recurrent.weight"] @ state[0]
        + named[f"{prefix}input.bias"]
    )
    if len(state) == 1:
        return (torch.tanh(summed),)
    write, keep, read, candidate = summed.split(len(state[0]))
    cell = torch.sigmoid(keep + 1) * state[1] + torch.sigmoid(write) * torch.tanh(candidate)
    return torch.sigmoid(read) * torch.tanh(cell), cell


def slow_act(
    model: ActRnn, batch: SequenceBatch, parts: int
) -> Iterator[tuple[tuple[int, int], Tensor, int, Tensor]]:
    """Graves 2016, equations 3 to 9 and 13: place, output, N and R of one input at a time."""
    unit = model.halting.unit.linear
    for row, length in enumerate(batch.mask.sum(dim=1).tolist()):
        state = tuple(torch.zeros(5, dtype=torch.float64) for _ in range(parts))
        for t in range(length):
            states: list[tuple[Tensor, ...]] = []
            answers: list[Tensor] = []
            halting: list[Tensor] = []
            inner = state
            for n in range(1, ACT.max_steps + 1):
                flag = torch.tensor([1.0 if n == 1 else 0.0], dtype=torch.float64)
                inner = slow_step(model, torch.cat([batch.inputs[row, t], flag]), inner)
                states.append(inner)
                answers.append(model.output.weight @ inner[0] + model.output.bias)
                halting.append(torch.sigmoid(unit.weight[0] @ inner[0] + unit.bias[0]))
                if sum(h.item() for h in halting) >= 1 - ACT.epsilon:
                    break
            remainder = 1 - sum(halting[:-1])
            weights = [*halting[:-1], remainder]
            state = tuple(
                sum(w * s[part] for w, s in zip(weights, states, strict=True))
                for part in range(parts)
            )
            output = sum(w * y for w, y in zip(weights, answers, strict=True))
            yield (row, t), output, n, torch.as_tensor(remainder, dtype=torch.float64)


@PARTS
def test_against_the_equations(cell: str, parts: int) -> None:
    """Outputs, N and R of every input, and the gradient of every parameter."""
    model, batch = make(cell, ACT), sample()
    with torch.no_grad():  # so that inputs differ in their steps
        model.halting.unit.linear.weight.mul_(6)
        model.halting.unit.linear.bias.fill_(-1.5)
    pondered = model(batch.inputs, batch.mask)
    taken, fast_loss, slow_loss = set[int](), 0.0, 0.0
    for here, expected, steps, remainder in slow_act(model, batch, parts):
        taken.add(steps)
        torch.testing.assert_close(pondered.logits[here], expected, rtol=0, atol=1e-12)
        assert pondered.steps[here] == steps
        cost = pondered.ponder_cost[here]
        torch.testing.assert_close(cost, steps + remainder, rtol=0, atol=1e-12)
        fast_loss = fast_loss + pondered.logits[here].sin().sum() + cost
        slow_loss = slow_loss + expected.sin().sum() + steps + remainder
    assert len(taken) >= 3, "the example is too easy: inputs take the same steps"
    assert ACT.max_steps in taken, "the example is too easy: no input meets the cap"
    parameters = list(model.parameters())
    fast = torch.autograd.grad(fast_loss, parameters)
    for ours, theirs in zip(fast, torch.autograd.grad(slow_loss, parameters), strict=True):
        assert bool(ours.abs().sum() > 0)
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("halting", [None, ACT, FixedStepsConfig(steps=3)])
def test_a_sequence_alone_and_without_padding_has_the_same_answers(cell: str, halting: Any) -> None:
    model, batch = make(cell, halting), sample()
    together = model(batch.inputs, batch.mask)
    for row, length in enumerate(batch.mask.sum(dim=1).tolist()):
        alone = model(batch.inputs[row : row + 1, :length], batch.mask[row : row + 1, :length])
        torch.testing.assert_close(together.logits[row, :length], alone.logits[0])
        if halting is not None:
            torch.testing.assert_close(together.steps[row, :length], alone.steps[0])
            assert not together.steps[row, length:].any()


@pytest.mark.parametrize("cell", CELLS)
def test_without_halting_it_is_torchs_own(cell: str) -> None:
    model, batch = make(cell, None), sample()
    theirs = (nn.RNN if cell == "rnn" else nn.LSTM)(TASK.inputs, 5, batch_first=True).double()
    i_f_g_o = torch.cat([torch.arange(10), torch.arange(15, 20), torch.arange(10, 15)])
    order = torch.arange(5) if cell == "rnn" else i_f_g_o
    weight, bias = model.cell.input_map()
    recurrent = (model.cell if cell == "rnn" else model.cell.lstm).recurrent.weight
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(weight[order])
        theirs.weight_hh_l0.copy_(recurrent[order])
        theirs.bias_ih_l0.copy_(bias[order])
        theirs.bias_hh_l0.zero_()
    pondered = model(batch.inputs, batch.mask)
    torch.testing.assert_close(pondered.logits, model.output(theirs(batch.inputs)[0]))
    assert pondered.steps is None
    assert pondered.ponder_cost is None


def test_padding_is_never_wrong_and_has_no_steps() -> None:
    model, batch = make("lstm", ACT), sample()
    wrong = batch._replace(targets=torch.where(batch.mask[..., None], batch.targets, 7.0))
    scored = score(TASK.outputs, model(batch.inputs, batch.mask), wrong)
    assert not scored.wrong[~batch.mask].any() and not batch.mask.all()


def test_loss_and_ponder_cost_are_summed_over_a_sequence() -> None:
    """Equation 12: mean over sequences of the sum of losses + weight · sum of N + R."""
    model, batch = make("lstm", replace(ACT, ponder_weight=0.3)), sample()
    pondered = model(batch.inputs, batch.mask)
    scored = score(TASK.outputs, pondered, batch)
    expected = 0.0
    for row in range(len(batch.inputs)):
        for t in range(int(batch.mask[row].sum())):
            chance = torch.sigmoid(pondered.logits[row, t, 0])
            right = chance if batch.targets[row, t, 0] else 1 - chance
            expected += -right.log() + 0.3 * pondered.ponder_cost[row, t]
            assert bool(scored.wrong[row, t]) == bool(right < 0.5)
    total = scored.objective(model.halting)
    torch.testing.assert_close(total, expected / len(batch.inputs))


MAX_STEPS = PONDER_NET.max_steps


def varied(cell: str, halting: Any) -> ActRnn:
    """A network whose examples differ in their steps."""
    model = make(cell, halting)
    with torch.no_grad():
        model.halting.unit.linear.weight.mul_(6)
        model.halting.unit.linear.bias.fill_(-1.0)
        model.output.weight.mul_(4)
    return model


def slow_steps(model: ActRnn, vector: Tensor, parts: int) -> tuple[list[Tensor], list[Tensor]]:
    """Return h_n and the probability of an odd number at each step of one example."""
    unit = model.halting.unit.linear
    state = tuple(torch.zeros(5, dtype=torch.float64) for _ in range(parts))
    halts, odd = [], []
    for n in range(1, MAX_STEPS + 1):
        flag = torch.tensor([1.0 if n == 1 else 0.0], dtype=torch.float64)
        state = slow_step(model, torch.cat([vector, flag]), state)
        halts.append(torch.sigmoid(unit.weight[0] @ state[0] + unit.bias[0]))
        odd.append(torch.sigmoid(model.output.weight[0] @ state[0] + model.output.bias[0]))
    return halts, odd


def right(odd: Tensor, target: Tensor) -> Tensor:
    return odd if target else 1 - odd


def slow_ponder_net(halts: list[Tensor], odd: list[Tensor], target: Tensor) -> Any:
    """Banino et al. 2021, eq. 5 and 6: loss, KL, and step and probability of the median."""
    masses: list[Tensor] = []
    rest = torch.ones((), dtype=torch.float64)
    for n, halt in enumerate(halts, start=1):
        mass = rest * halt
        if 1 - sum(masses) - mass <= PONDER_NET.epsilon or n == MAX_STEPS:
            masses.append(rest)
            break
        masses.append(mass)
        rest = rest * (1 - halt)
    rate = 1 / PONDER_NET.prior_steps
    loss = -sum(p * right(y, target).log() for p, y in zip(masses, odd, strict=False))
    kl = sum(p * (p / (rate * (1 - rate) ** n)).log() for n, p in enumerate(masses))
    median = next(n for n in range(1, MAX_STEPS + 1) if sum(masses[:n]) >= 0.5)
    return loss, kl, median, odd[median - 1]


def slow_dact(halts: list[Tensor], odd: list[Tensor], target: Tensor) -> Any:
    """Eyzaguirre & Soto 2020, eq. 1 to 5: loss, sum of p_n, step and probability of the answer."""
    mixed, left, cost, taken = odd[0], 1.0, 0.0, []
    for halt, y in zip(halts, odd, strict=True):
        if taken and left < DACT.epsilon:
            break
        mixed = left * y + (1 - left) * mixed if taken else y
        left = left * (1 - halt)
        cost = cost + left
        taken.append((mixed, left))
    settled = len(taken)
    for n, (answer, open_) in reversed(list(enumerate(taken, start=1))):
        worst = answer  # if all later steps contradict it
        for _ in range(MAX_STEPS - n):
            worst = open_ * (0.0 if answer > 0.5 else 1.0) + (1 - open_) * worst
        if (worst > 0.5) == (answer > 0.5):
            settled = n
    return -right(mixed, target).log(), cost, settled, mixed


@PARTS
@pytest.mark.parametrize(
    ("halting", "slow"), [(PONDER_NET, slow_ponder_net), (DACT, slow_dact)], ids=["ponder", "dact"]
)
def test_own_answers_against_the_equations(cell: str, parts: int, halting: Any, slow: Any) -> None:
    """The objective, the gradient of every parameter, and evaluated steps and answers."""
    model, batch = varied(cell, halting), sample(40, halting)
    fast, expected = trained_on(model, batch), torch.zeros((), dtype=torch.float64)
    result = evaluate(model, PARITY.outputs, batch, batch_size=16)
    numbers = set()
    for row, target in enumerate(batch.targets[:, 0, 0]):
        halts, odd = slow_steps(model, batch.inputs[row, 0], parts)
        loss, cost, number, answer = slow(halts, odd, target)
        expected = expected + (loss + halting.ponder_weight * cost) / len(batch.inputs)
        assert result.pondered.steps[row, 0] == number
        assert result.pondered.logits[row, 0, 0].item() == pytest.approx(torch.logit(answer).item())
        assert result.wrong[row, 0] == (right(answer, target) < 0.5)
        numbers.add(number)
    assert len(numbers) >= 3, "the example is too easy: examples take the same steps"
    torch.testing.assert_close(fast, expected, rtol=0, atol=1e-12)
    parameters = list(model.parameters())
    theirs = torch.autograd.grad(expected, parameters)
    for one, other in zip(torch.autograd.grad(fast, parameters), theirs, strict=True):
        assert bool(one.abs().sum() > 0)
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)
