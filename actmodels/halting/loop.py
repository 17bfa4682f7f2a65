"""Halting around any step function."""

from collections.abc import Callable
from functools import partial
from typing import Generic, NamedTuple

import torch
from torch import Tensor

from actmodels.halting.base import Halting
from actmodels.halting.states import Classify, State, each
from actmodels.prediction import Prediction


class Trajectory(NamedTuple, Generic[State]):
    """All steps: states [batch, steps, state] and halting probabilities [batch, steps]."""

    states: State
    probabilities: Tensor


def unroll(
    step: Callable[[State], State],
    state: State,
    halting: Halting,
    classify: Classify,
    max_steps: int | None = None,
    *,
    until_halted: bool = True,
    freeze: bool = False,
) -> Trajectory[State]:
    """Apply a step function repeatedly to all examples of a batch, halted or not.

    Args:
        step: maps the states of the whole batch to the next states.
        state: initial state [batch, state].
        max_steps: maximum number of steps; halting.max_steps by default.
        until_halted: stop once all examples have halted; later steps would have weight 0.
        freeze: halted examples keep their state, for steps in which examples see each other.

    Raises:
        ValueError: until_halted, where the number of steps must not depend on data.
    """
    states: list[State] = []
    probabilities: list[Tensor] = []
    halted: Tensor | None = None
    for _ in range(max_steps or halting.max_steps):
        before, state = state, step(state)
        if freeze and halted is not None:
            state = each(partial(kept, halted[..., None]), before, state)
        states.append(state)
        probabilities.append(halting.read(state, before, classify))
        if until_halted or freeze:
            halted = halting.has_halted(torch.stack(probabilities, dim=-1).detach())
            if until_halted and all_true(halted):
                break
    stacked: State = each(lambda *parts: torch.stack(parts, dim=-2), *states)
    return Trajectory(stacked, torch.stack(probabilities, dim=-1))


def kept(halted: Tensor, before: Tensor, after: Tensor) -> Tensor:
    """Return the state before the step where an example has halted, and the next one elsewhere."""
    return torch.where(halted, before, after)


def all_true(halted: Tensor) -> bool:
    """Return whether all examples have halted.

    Raises:
        ValueError: a compiler, vmap or the device meta runs the code without values.
    """
    if not (halted.is_meta or torch.compiler.is_compiling()):
        try:
            return bool(halted.all())
        except RuntimeError as error:
            if not str(error).startswith("vmap"):
                raise
    raise ValueError(
        "steps end once all examples have halted, which needs their values; for torch.compile, "
        "torch.export, vmap and the device meta pass until_halted=False: the same results from "
        "max_steps steps"
    )


def adapt_steps(
    step: Callable[[State], State],
    state: State,
    halting: Halting,
    classify: Classify,
    *,
    until_halted: bool = True,
) -> Prediction:
    """Predict after as many steps as each example needs; halted examples keep their state.

    Args:
        step: maps states [batch, state] to the next ones, where batch stands for any leading
            dimensions; or tuples of such tensors, averaged together, to tuples.
        state: initial states.
        halting: the mechanism; it reads the states, of tuples the first tensor.
        classify: maps states [..., state], or tuples of them, to logits [..., labels].
        until_halted: stop once all examples have halted. False takes max_steps steps with the same
            results: for torch.compile(fullgraph=True), torch.export, vmap and the device meta.
    """
    options = {"until_halted": until_halted, "freeze": True}
    return halting.answer(*unroll(step, state, halting, classify, **options), classify)
