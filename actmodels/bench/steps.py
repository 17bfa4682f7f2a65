"""Halting units set so that an untrained model takes the steps of a trained one."""

from collections.abc import Sequence

import torch
from torch import Tensor

from actmodels.data.batching import Batch
from actmodels.halting.act import Act, act
from actmodels.models.alternating import AlternatingAttention
from actmodels.models.pair_model import PairModel

MEAN, SD = 5.1, 1.4  # steps of the trials that the prototype's figures are of
SCALES = [2.0 ** (power / 2) for power in range(-4, 24)]  # of the halting weights
HALVINGS = 40


def alternating(model: PairModel) -> AlternatingAttention:
    """The model, which infers in steps and halts by ACT."""
    assert isinstance(model, AlternatingAttention) and isinstance(model.halting, Act)
    return model


@torch.no_grad()
def set_steps(
    model: PairModel, batches: Sequence[Batch], mean: float = MEAN, sd: float = SD
) -> None:
    """Scale the halting weights and choose the bias for a mean and a spread of N.

    The mean is met, the standard deviation as nearly as the states allow; both as the model is
    now (in training with dropout), on the examples given.
    """
    model = alternating(model)
    unit = model.halting.unit.linear
    cap = model.halting.max_steps
    unrolled = [model.unroll(batch, cap, until_halted=False).states for batch in batches]
    scores = torch.cat(unrolled) @ unit.weight[0]  # [examples, steps]
    tried = []
    for scale in SCALES:
        bias = _bias(scores * scale, model.halting.epsilon, mean)
        steps = act(torch.sigmoid(scores * scale + bias), model.halting.epsilon).steps
        tried.append((abs(float(steps.std()) - sd), scale, bias))
    _, scale, bias = min(tried)
    unit.weight *= scale
    unit.bias.fill_(bias)


def _bias(scores: Tensor, epsilon: float | Tensor, mean: float) -> float:
    """The bias that gives a mean number of steps, which falls as the bias rises."""
    low, high = -float(scores.max()) - 10.0, -float(scores.min()) + 10.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        steps = act(torch.sigmoid(scores + middle), epsilon).steps
        low, high = (middle, high) if float(steps.mean()) > mean else (low, middle)
    return (low + high) / 2
