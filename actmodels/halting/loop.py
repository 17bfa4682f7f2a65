"""Steps until every example halts, around any step function."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.halting.family import Classify, Halting
from actmodels.prediction import Prediction


class Trajectory(NamedTuple):
    """All steps of a batch.

    states: [batch, steps, state]. probabilities: halting probabilities [batch, steps].
    """

    states: Tensor
    probabilities: Tensor


def unroll(
    step: Callable[[Tensor], Tensor],
    state: Tensor,
    halting: Halting,
    max_steps: int | None = None,
    *,
    until_halted: bool = True,
) -> Trajectory:
    """Take steps for all examples, halted or not.

    Args:
        step: maps states [batch, state] to the next ones; it sees the whole batch each time.
        state: what the first step begins with [batch, state].
        max_steps: how many at most; without it, those of the halting.
        until_halted: stop once every example has halted; the steps left out would weigh 0.
    """
    states: list[Tensor] = []
    probabilities: list[Tensor] = []
    for _ in range(max_steps or halting.max_steps):
        state = step(state)
        states.append(state)
        probabilities.append(halting.probability(state))
        if until_halted and bool(halting.done(torch.stack(probabilities, dim=-1).detach()).all()):
            break
    return Trajectory(torch.stack(states, dim=-2), torch.stack(probabilities, dim=-1))


def adapt_steps(
    step: Callable[[Tensor], Tensor], state: Tensor, halting: Halting, classify: Classify
) -> Prediction:
    """What a halting makes of as many steps as each example asks for.

    Train on `halting.objective(prediction, labels)`, and tell the halting of each update by
    `halting.adapt(prediction, labels)`. For the arguments see `unroll`; `classify` maps
    [..., state] to logits [..., labels].
    """
    return halting.answer(*unroll(step, state, halting), classify)
