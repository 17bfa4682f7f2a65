"""ACT against the hand-worked example, theory, and a slow loop."""

import pytest
import torch

from actmodels.halting.distribution import until

HAND = torch.tensor([[0.1, 0.2, 0.8, 0.5]], dtype=torch.float64)


def test_hand_worked_example() -> None:
    """.1 + .2 + .8 >= .99 for the first time at step 3: N = 3, R = 1 - .1 - .2 = .7."""
    halted = until(HAND, epsilon=0.01)
    assert halted.steps.tolist() == [3.0]
    torch.testing.assert_close(halted.remainder, torch.tensor([0.7], dtype=torch.float64))
    torch.testing.assert_close(halted.ponder_cost, torch.tensor([3.7], dtype=torch.float64))
    expected = torch.tensor([[0.1, 0.2, 0.7, 0.0]], dtype=torch.float64)
    torch.testing.assert_close(halted.weights, expected)


def test_gradient_of_the_ponder_cost() -> None:
    """-1 for every step before N, 0 at N and after it (Graves 2016 section 2)."""
    probabilities = HAND.clone().requires_grad_()
    until(probabilities, epsilon=0.01).ponder_cost.sum().backward()
    assert probabilities.grad.tolist() == [[-1.0, -1.0, 0.0, 0.0]]


def test_gradient_of_the_weighted_state() -> None:
    """dL/dh_n = dL/dout · (y_n - y_N) before N; the unit at N gets none."""
    outputs = torch.tensor([[2.0, 3.0, 10.0, 50.0]], dtype=torch.float64)
    probabilities = HAND.clone().requires_grad_()
    (until(probabilities, epsilon=0.01).weights * outputs).sum().backward()
    assert probabilities.grad.tolist() == [[2.0 - 10.0, 3.0 - 10.0, 0.0, 0.0]]


def slow_act(row: list[float], epsilon: float) -> tuple[list[float], int, float]:
    """Graves' definition, one number at a time."""
    total, weights = 0.0, [0.0] * len(row)
    for n, p in enumerate(row):
        if total + p >= 1 - epsilon or n == len(row) - 1:
            weights[n] = 1 - total
            return weights, n + 1, 1 - total
        weights[n] = p
        total += p
    raise AssertionError("unreachable")


@pytest.mark.parametrize("epsilon", [0.01, 0.2])
@pytest.mark.parametrize("scale", [0.05, 0.4, 1.0])
def test_against_a_slow_loop(epsilon: float, scale: float) -> None:
    probabilities = torch.rand(200, 12, dtype=torch.float64) * scale
    halted = until(probabilities, epsilon)
    for row, values in enumerate(probabilities.tolist()):
        weights, steps, remainder = slow_act(values, epsilon)
        assert halted.steps[row] == steps
        assert halted.remainder[row].item() == pytest.approx(remainder)
        assert halted.weights[row].tolist() == pytest.approx(weights)
    ones = torch.ones(200, dtype=torch.float64)
    torch.testing.assert_close(halted.weights.sum(dim=1), ones)
