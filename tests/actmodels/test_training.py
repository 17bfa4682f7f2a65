"""The optimisers of trials on sentence pairs."""

import pytest
import torch

from actmodels.training import Training, build_optimizer
from tests.samples import MODELS, sample_data, sample_trial


def test_one_adagrad_step_by_hand() -> None:
    """w - lr · g / sqrt(accumulator + g²), with the accumulator at 0.1."""
    config = sample_trial(MODELS[0], optimizer="adagrad", learning_rate=0.5)
    training = Training(config, sample_data())
    optimizer = build_optimizer(training.model, config.training)
    parameter = training.model.classify.bias
    parameter.grad = torch.tensor([0.3, 0.0, -2.0])
    optimizer.step()
    expected = [-0.5 * g / (0.1 + g * g) ** 0.5 for g in (0.3, 0.0, -2.0)]
    assert parameter.tolist() == pytest.approx(expected, rel=1e-5)
