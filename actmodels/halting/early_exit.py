"""Early exit: train a classifier on every state, and stop at the first that is good enough."""

from abc import abstractmethod
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot, pad

from actmodels.configs import ConfidenceExitConfig, PatienceExitConfig
from actmodels.halting.base import Halting, require
from actmodels.halting.states import Classify, each
from actmodels.modules.linear import per_trial
from actmodels.modules.recurrent import rows
from actmodels.precision import at_least_float32
from actmodels.prediction import Criterion, Prediction


class EarlyExit(Halting):
    """Minimize the mean loss of all max_steps states; in evaluation classify the state of the exit.

    `has_halted` reads a number of each answer in place of a halting probability. Without a halting
    unit nothing is learned about when to stop, so the rule can change after training.
    """

    @abstractmethod
    def exits(self, numbers: Tensor) -> Tensor:
        """Return at which steps [batch, steps] the rule holds, from a number of each answer."""

    def read(self, state: Any, before: Any, classify: Classify) -> Tensor:
        return self.probability(classify(state))

    def has_halted(self, probabilities: Tensor) -> Tensor:
        *batch, steps = probabilities.shape
        if self.training or steps >= self.max_steps:
            return torch.full(batch, steps >= self.max_steps, device=probabilities.device)
        return self.exits(probabilities).any(dim=-1)

    def answer(self, states: Any, probabilities: Tensor, classify: Classify) -> Prediction:
        step_logits, exits = classify(states), self.exits(probabilities.detach())
        exits[..., -1] = True
        steps = exits.float().argmax(dim=-1)  # the first
        if self.training:
            steps = torch.full_like(steps, exits.shape[-1] - 1)
        weights = one_hot(steps, exits.shape[-1]).to(probabilities.dtype)

        def at_exit(values: Tensor) -> Tensor:
            return rows(values, steps[..., None]).squeeze(-2)

        taken, state = (steps + 1).to(weights.dtype), each(at_exit, states)
        return Prediction(at_exit(step_logits), taken, None, weights, step_logits, state)

    def losses(self, prediction: Prediction, criterion: Criterion) -> Tensor:
        """Return the mean loss of the states up to N [batch]."""
        assert prediction.steps is not None
        losses = criterion.step_losses(prediction)
        numbers = torch.arange(losses.shape[-1], device=losses.device)
        taken = (numbers < prediction.steps[..., None]).to(losses.dtype)
        return (losses * taken).sum(dim=-1) / taken.sum(dim=-1)


class ConfidenceExit(EarlyExit):
    """Exit where the most probable class has min_confidence (BranchyNet, CALM)."""

    def __init__(self, config: ConfidenceExitConfig, state: int) -> None:
        super().__init__()
        self.max_steps = require(config, ConfidenceExitConfig, self).max_steps
        self.min_confidence: float | Tensor = config.min_confidence

    def probability(self, state: Tensor) -> Tensor:
        """Return the probability of the most probable class [batch] of logits [batch, labels]."""
        return torch.softmax(at_least_float32(state), dim=-1).amax(dim=-1)

    def exits(self, numbers: Tensor) -> Tensor:
        return numbers >= per_trial(self.min_confidence, numbers)


class PatienceExit(EarlyExit):
    """Exit once the class has not changed for unchanged_steps steps (Zhou et al. 2020, PABEE)."""

    def __init__(self, config: PatienceExitConfig, state: int) -> None:
        super().__init__()
        self.max_steps = require(config, PatienceExitConfig, self).max_steps
        self.unchanged_steps = config.unchanged_steps

    def probability(self, state: Tensor) -> Tensor:
        """Return the most probable class [batch] of logits [batch, labels]."""
        return state.argmax(dim=-1).to(at_least_float32(state).dtype)

    def exits(self, numbers: Tensor) -> Tensor:
        unchanged, count = numbers.diff(dim=-1) == 0, self.unchanged_steps
        if unchanged.shape[-1] < count:
            return torch.zeros_like(numbers, dtype=torch.bool)
        return pad(unchanged.unfold(-1, count, 1).all(dim=-1), (count, 0))
