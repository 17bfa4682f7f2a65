"""Pointer sums, and mixtures at their limits; test_model.py compares both with the equations."""

import math

import pytest
import torch

from studies.cloze.memory import AdaptiveComputation, mix_steps, pointer_sum


def logs(*probabilities: float) -> torch.Tensor:
    return torch.tensor([probabilities], dtype=torch.float64).log()


def test_scores_far_apart_keep_their_gradient() -> None:
    """Single precision: a probability of exp(-400) is 0, its logarithm is -400."""
    scores = torch.tensor([[400.0, 0.0]], requires_grad=True)
    result = pointer_sum(scores, torch.tensor([[True, True]]), torch.tensor([[0, 1]]), 2)
    assert result[0, 1].item() == -400.0
    result[0, 1].backward()
    assert scores.grad.tolist() == [[-1.0, 1.0]]


def test_a_weight_of_zero_and_an_absent_candidate_have_gradients_that_are_numbers() -> None:
    steps = torch.stack([logs(0.5, 0.3, 0.0), logs(0.1, 0.7, 0.0)], dim=1).requires_grad_()
    weights = torch.tensor([[0.0, 1.0]], dtype=torch.float64, requires_grad=True)
    result = mix_steps(steps, weights)
    assert result[0, 0].item() == pytest.approx(math.log(0.1), abs=1e-12)
    result[0, :2].sum().backward()
    for gradient in (steps.grad, weights.grad):
        assert bool(torch.isfinite(gradient).all())


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_sure_to_halt_and_sure_not_to(chance: float) -> None:
    test = AdaptiveComputation(2)
    step_logs = torch.tensor([[[0.2], [0.6], [0.9]]]).log()
    halting = [torch.tensor([chance], requires_grad=True) for _ in range(2)]
    logs, weights = test.answer(step_logs, halting)
    assert weights.tolist() == [[1.0, 0.0, 0.0] if chance else [0.0, 0.0, 1.0]]
    logs.sum().backward()
    assert all(bool(torch.isfinite(h.grad).all()) for h in halting if h.grad is not None)
