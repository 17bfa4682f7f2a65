"""PonderNet and DACT with recurrent cells, on parity, against reference loops."""

from typing import Any

import pytest
import torch
from torch import Tensor

from actmodels.models.act_rnn import ActRnn
from studies.sequences.training import evaluate
from tests.studies.sequences.samples import DACT, PONDER_NET
from tests.studies.sequences.test_act_rnn import PARITY, make, sample, slow_step, trained_on

CELLS = (("rnn", 1), ("lstm", 2))
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


@pytest.mark.parametrize(("cell", "parts"), CELLS)
@pytest.mark.parametrize(
    ("halting", "slow"), [(PONDER_NET, slow_ponder_net), (DACT, slow_dact)], ids=["ponder", "dact"]
)
def test_against_the_equations(cell: str, parts: int, halting: Any, slow: Any) -> None:
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
