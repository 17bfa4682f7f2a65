"""Halting units set so that an untrained model takes the steps of a trained one."""

from collections.abc import Sequence

import torch
from torch import Tensor

from actmodels.data.pairs import PairTensors, collate
from actmodels.halting.act import Act
from actmodels.halting.distribution import until as act
from actmodels.models.alternating import AlternatingAttention
from actmodels.models.pair_model import PairModel

MEAN, SD = 5.1, 1.4  # steps of a trained trial, about: what the prototype was measured with
EXAMPLES = 256  # that the steps are set on, or all there are
COARSE = [2.0**power for power in range(-2, 13)]  # scales of the halting weights
FINE = [2.0 ** (power / 8) for power in range(-7, 8)]  # and factors of the best of them
HALVINGS = 20


@torch.no_grad()
def states_of(
    model: PairModel, pairs: PairTensors, batches: Sequence[Tensor], device: str = "cpu"
) -> Tensor:
    """States to the cap of the first examples [examples, steps, state]."""
    assert isinstance(model, AlternatingAttention)
    states = []
    for index in batches[: -(-EXAMPLES // len(batches[0]))]:
        batch = collate(pairs, index, null_token=False, device=device)
        states.append(model.unroll(batch, model.halting.max_steps, until_halted=False).states)
    return torch.cat(states)


@torch.no_grad()
def set_steps(
    model: PairModel, states: Tensor, mean: float, sd: float, direction: Tensor | None = None
) -> None:
    """Scale the halting weights and choose the bias for a mean and a spread of N.

    The mean is met, the standard deviation as nearly as the states allow.

    Args:
        states: the model's own, from `states_of`.
        direction: halting weights to scale [state], in place of the model's own.
    """
    assert isinstance(model, AlternatingAttention) and isinstance(model.halting, Act)
    unit, epsilon = model.halting.unit.linear, model.halting.epsilon
    weights = unit.weight[0] if direction is None else direction
    scores = states @ weights  # [examples, steps]

    def tried(scale: float) -> tuple[float, float, float]:
        """How far off the standard deviation is; the scale; the bias that gives the mean."""
        bias = _bias(scores * scale, epsilon, mean)
        steps = act(torch.sigmoid(scores * scale + bias), epsilon).steps
        return abs(float(steps.std(correction=0)) - sd), scale, bias

    _, coarse, _ = min(map(tried, COARSE))
    _, scale, bias = min(tried(coarse * factor) for factor in FINE)
    unit.weight.copy_(scale * weights)
    unit.bias.fill_(bias)


def _bias(scores: Tensor, epsilon: float | Tensor, mean: float) -> float:
    """The bias that gives a mean number of steps, which falls as the bias rises."""
    low, high = -float(scores.max()) - 10.0, -float(scores.min()) + 10.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        steps = act(torch.sigmoid(scores + middle), epsilon).steps
        low, high = (middle, high) if float(steps.mean()) > mean else (low, middle)
    return (low + high) / 2
