"""Early exit: train a classifier on every state, and stop at the first that is good enough."""

from abc import abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import pad

from actmodels.configs import ConfidenceExitConfig, PatienceExitConfig
from actmodels.halting.base import Halting, require
from actmodels.halting.states import Classify
from actmodels.halting.steps import Steps
from actmodels.modules.linear import per_trial
from actmodels.modules.recurrent import rows
from actmodels.precision import at_least_float32
from actmodels.prediction import Criterion, Prediction


class EarlyExit(Halting):
    """Minimize the mean loss of all max_steps states; in evaluation classify the state of the exit.

    `has_halted` reads a number of each answer in place of a halting probability. Without a halting
    unit nothing is learned about when to stop, so the rule can change after training.
    """

    keeps = ("state", "outputs")

    @abstractmethod
    def exits(self, numbers: Tensor) -> Tensor:
        """Return at which steps [batch, steps] the rule holds, from a number of each answer."""

    def read(self, units: Tensor, before: Tensor, outputs: Callable[[], Tensor]) -> Tensor:
        return self.probability(outputs())

    def has_halted(self, probabilities: Tensor) -> Tensor:
        if self.training:
            return torch.zeros_like(probabilities[..., 0], dtype=torch.bool)
        return self.exits(probabilities).any(dim=-1)

    def newest_weight(self, so_far: Tensor, newest: Tensor, ends: Tensor | None) -> Tensor | None:
        if self.training:
            return None if ends is None else ends.to(newest.dtype)
        exits = self.exits(so_far)
        now = exits[..., -1] if ends is None else exits[..., -1] | ends
        return (now & ~exits[..., :-1].any(dim=-1)).to(newest.dtype)

    def answer(self, steps: Steps, classify: Classify) -> Prediction:
        step_logits, ends = steps.outputs(classify), steps.ends()
        exits = ends.expand(steps.probabilities.shape)
        if not self.training:
            exits = exits | self.exits(steps.probabilities.detach())
        # the first one
        weights = (exits & (torch.cumsum(exits, dim=-1) == 1)).to(steps.probabilities.dtype)
        numbers = torch.arange(1, weights.shape[-1] + 1, device=weights.device)
        count = (weights * numbers).sum(dim=-1)
        logits = rows(step_logits, count[..., None].long() - 1).squeeze(-2)
        return Prediction(logits, count, None, weights, step_logits, steps.at(count))

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
