"""ACT with recurrent cells: the paper's equations, torch's layers, and invariances."""

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
from studies.sequences.training import build_task, score
from tests.studies.sequences.samples import ACT

TASK = build_task(LogicConfig(vectors=4, gates=3))
PARITY = build_task(ParityConfig(bits=6))
CELLS = ("rnn", "lstm")


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


@pytest.mark.parametrize(("cell", "parts"), [("rnn", 1), ("lstm", 2)])
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
