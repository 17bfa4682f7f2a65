"""Early exit: train a classifier on the states, and stop at the first that is good enough."""

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import torch
from torch import Tensor
from torch.linalg import vector_norm
from torch.nn.functional import binary_cross_entropy, pad

from actmodels.configs import (
    ConfidenceExitConfig,
    CorrectnessExitConfig,
    FixedPointExitConfig,
    PatienceExitConfig,
)
from actmodels.halting.base import LastState
from actmodels.halting.states import Classify
from actmodels.halting.steps import Steps, at_first, first_exit
from actmodels.modules.linear import HaltingUnit, at_least_float32, per_trial
from actmodels.modules.recurrent import rows
from actmodels.prediction import Criterion, Prediction


class Exit(LastState):
    """Classify the last of max_steps states in training, and the state of the exit in evaluation.

    `has_halted` reads a number of each step in place of a halting probability.
    """

    keeps: ClassVar[tuple[str, ...]] = ("state",)

    @abstractmethod
    def exits(self, numbers: Tensor) -> Tensor:
        """Return at which steps [batch, steps] the rule holds, from the number of each step."""

    def has_halted(self, probabilities: Tensor) -> Tensor:
        if self.training:
            return super().has_halted(probabilities)
        return self.exits(probabilities).any(dim=-1)

    def newest_weight(self, so_far: Tensor, newest: Tensor, ends: Tensor | None) -> Tensor | None:
        if self.training:
            return super().newest_weight(so_far, newest, ends)
        return first_exit(self.exits(so_far), ends)

    def exits_of(self, steps: Steps) -> Tensor | None:
        return None if self.training else self.exits(steps.probabilities.detach())


class EarlyExit(Exit):
    """Minimize the mean loss of all states, because each can be the exit.

    Without a halting unit nothing is learned about when to stop, so the rule can change after
    training.
    """

    keeps = ("state", "outputs")

    def read(self, units: Tensor, before: Tensor, outputs: Callable[[], Tensor]) -> Tensor:
        return self.probability(outputs())

    def answer(self, steps: Steps, classify: Classify) -> Prediction:
        weights, count = at_first(self.exits_of(steps), steps)
        step_logits = steps.outputs(classify)
        logits = rows(step_logits, count[..., None].long() - 1).squeeze(-2)
        read = steps.probabilities
        return Prediction(logits, count, None, weights, step_logits, steps.at(count), read)

    def losses(self, prediction: Prediction, criterion: Criterion) -> Tensor:
        """Return the mean loss of the states up to N [batch]."""
        return up_to_exit(criterion.step_losses(prediction), prediction)


def up_to_exit(values: Tensor, prediction: Prediction) -> Tensor:
    """Average values [batch, steps] over the steps up to N [batch]."""
    assert prediction.steps is not None
    numbers = torch.arange(values.shape[-1], device=values.device)
    taken = (numbers < prediction.steps[..., None]).to(values.dtype)
    return (values * taken).sum(dim=-1) / taken.sum(dim=-1)


class ConfidenceExit(EarlyExit):
    """Exit where the most probable class has min_confidence (BranchyNet, CALM)."""

    settings = ConfidenceExitConfig

    def __init__(self, config: ConfidenceExitConfig, state: int) -> None:
        super().__init__(config, state)
        self.min_confidence: float | Tensor = config.min_confidence

    def probability(self, state: Tensor) -> Tensor:
        """Return the probability of the most probable class [batch] of logits [batch, labels]."""
        return torch.softmax(at_least_float32(state), dim=-1).amax(dim=-1)

    def exits(self, numbers: Tensor) -> Tensor:
        return numbers >= per_trial(self.min_confidence, numbers)


class PatienceExit(EarlyExit):
    """Exit once the class has not changed for unchanged_steps steps (Zhou et al. 2020, PABEE)."""

    settings = PatienceExitConfig

    def __init__(self, config: PatienceExitConfig, state: int) -> None:
        super().__init__(config, state)
        self.unchanged_steps = config.unchanged_steps

    def probability(self, state: Tensor) -> Tensor:
        """Return the most probable class [batch] of logits [batch, labels]."""
        return state.argmax(dim=-1).to(at_least_float32(state).dtype)

    def exits(self, numbers: Tensor) -> Tensor:
        unchanged, count = numbers.diff(dim=-1) == 0, self.unchanged_steps
        if unchanged.shape[-1] < count:
            return torch.zeros_like(numbers, dtype=torch.bool)
        return pad(unchanged.unfold(-1, count, 1).all(dim=-1), (count, 0))


class CorrectnessExit(EarlyExit):
    """Exit where a unit on the state believes that the answer is right (HRM, Wang et al. 2025).

    objective = mean loss of all states + unit_weight · mean cross-entropy of the unit, whose target
    is whether the class of the state is the label. For labels only.
    """

    settings = CorrectnessExitConfig

    def __init__(self, config: CorrectnessExitConfig, state: int) -> None:
        super().__init__(config, state)
        self.unit = HaltingUnit(state, config.halting_bias)
        self.min_correctness: float | Tensor = config.min_correctness
        self.unit_weight: float | Tensor = config.unit_weight

    def read(self, units: Tensor, before: Tensor, outputs: Callable[[], Tensor]) -> Tensor:
        return self.probability(self.units(units))

    def probability(self, state: Tensor) -> Tensor:
        return self.unit(state)

    def exits(self, numbers: Tensor) -> Tensor:
        return numbers >= per_trial(self.min_correctness, numbers)

    def total(self, prediction: Prediction, criterion: Criterion) -> Tensor:
        loss, targets = super().total(prediction, criterion), criterion.targets
        read, outputs = prediction.probabilities, prediction.step_logits
        assert read is not None and outputs is not None
        if not isinstance(targets, Tensor) or targets.is_floating_point():
            raise ValueError("CorrectnessExit needs labels as targets, which an answer can meet")
        right = (outputs.argmax(dim=-1) == targets[..., None]).to(read.dtype)
        beliefs = up_to_exit(binary_cross_entropy(read, right, reduction="none"), prediction)
        weight = per_trial(self.unit_weight, beliefs)
        return loss + criterion.reduce(weight * beliefs)


class FixedPointExit(Exit):
    """Exit once |s_n - s_{n-1}| <= min_change · |s_n| (FPRM, arXiv:2606.18206)."""

    settings = FixedPointExitConfig
    reads_change = True

    def __init__(self, config: FixedPointExitConfig, state: int) -> None:
        super().__init__(config, state)
        self.min_change: float | Tensor = config.min_change

    def read(self, units: Tensor, before: Tensor, outputs: Callable[[], Tensor]) -> Tensor:
        """Return the relative change of the state [batch]."""
        units, before = self.units(units), self.units(before)
        moved, norm = (vector_norm(at_least_float32(x), dim=-1) for x in (units - before, units))
        return moved / norm.clamp_min(torch.finfo(norm.dtype).tiny)

    def exits(self, numbers: Tensor) -> Tensor:
        return numbers <= per_trial(self.min_change, numbers)
