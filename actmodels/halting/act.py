"""Adaptive Computation Time (Graves 2016 section 2; paper appendix C), and variants (ours)."""

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from actmodels.configs import (
    ActConfig,
    ChangeActConfig,
    MlpActConfig,
    StepActConfig,
    SupervisedActConfig,
    TargetStepsConfig,
)
from actmodels.data.pairs import FILLER
from actmodels.halting.base import PonderedHalting
from actmodels.halting.states import Classify
from actmodels.halting.steps import Steps, at_first, first_exit, truncate
from actmodels.modules.linear import HaltingUnit, Linear, per_trial
from actmodels.prediction import Criterion, Prediction
from actmodels.registry import HaltingConfig


class Act(PonderedHalting):
    """Classify the mean state weighted by h_n, at a ponder cost of N + R (paper eq. 8)."""

    settings: ClassVar[type[HaltingConfig]] = ActConfig
    keeps: ClassVar[tuple[str, ...]] = ("state",)
    halts_by_sum = True

    def __init__(self, config: Any, state: int) -> None:
        super().__init__(config, state)
        self.warm_up_epochs = float(getattr(config, "warm_up_epochs", 0))
        self.share: float | Tensor = 1.0  # factor of the ponder weight in this epoch

    def start_epoch(self, epoch: int | Tensor) -> None:
        """Let the ponder weight grow linearly, from 0 in the first epoch, in the warm-up."""
        share = torch.as_tensor(epoch - 1) / torch.as_tensor(self.warm_up_epochs)  # 0 / 0 is nan
        share = torch.nan_to_num(share, nan=1.0).clamp(max=1.0)
        if not isinstance(epoch, Tensor):
            self.share = float(share)
        elif isinstance(self.share, Tensor):
            self.share.copy_(share)  # recorded updates read this tensor (actmodels.static_updates)
        else:
            self.share = share

    @property
    def current_ponder_weight(self) -> float | Tensor:
        return self.share * self.weight

    def answer(self, steps: Steps, classify: Classify) -> Prediction:
        weights, count, _ = halted = truncate(steps.probabilities, self.epsilon, steps.own_ends())
        state = steps.mean(weights)
        return Prediction(classify(state), count, halted.ponder_cost, weights, state=state)


class StepAct(Act):
    """ACT in training; in evaluation classify the first state whose own h_n reaches `threshold`.

    The sum of ACT forgets: small probabilities of each step end every example after some steps.
    The unit of a trained network knows better (docs/library.md).
    """

    settings = StepActConfig
    keeps = ("state",)

    def __init__(self, config: StepActConfig, state: int) -> None:
        super().__init__(config, state)
        self.threshold: float | Tensor = config.threshold

    @property
    def halts_by_sum(self) -> bool:  # type: ignore[override]
        return self.training

    def exits(self, probabilities: Tensor) -> Tensor:
        """Return at which steps [batch, steps] the unit would halt an example."""
        return probabilities >= per_trial(self.threshold, probabilities)

    def has_halted(self, probabilities: Tensor) -> Tensor:
        return self.exits(probabilities).any(dim=-1)

    def newest_weight(self, so_far: Tensor, newest: Tensor, ends: Tensor | None) -> Tensor | None:
        if self.training:
            return super().newest_weight(so_far, newest, ends)
        return first_exit(self.exits(so_far), ends)

    def answer(self, steps: Steps, classify: Classify) -> Prediction:
        if self.training:
            return super().answer(steps, classify)
        weights, count = at_first(self.exits(steps.probabilities), steps)
        state = steps.at(count)
        return Prediction(classify(state), count, count, weights, state=state)


class SupervisedAct(Act):
    """ACT with a loss on each state up to N.

    objective = ACT's + step_loss_weight · mean over n <= N of the loss of state n.
    """

    settings = SupervisedActConfig
    keeps = ("state", "outputs")
    halts_by_sum = True

    def __init__(self, config: SupervisedActConfig, state: int) -> None:
        super().__init__(config, state)
        self.step_loss_weight: float | Tensor = config.step_loss_weight

    def answer(self, steps: Steps, classify: Classify) -> Prediction:
        return super().answer(steps, classify)._replace(step_logits=steps.outputs(classify))

    def total(self, prediction: Prediction, criterion: Criterion) -> Tensor:
        assert prediction.weights is not None
        losses = criterion.step_losses(prediction)
        taken = (prediction.weights > 0).to(losses.dtype)
        step_loss = criterion.reduce((losses * taken).sum(dim=-1) / taken.sum(dim=-1))
        weight = per_trial(self.step_loss_weight, step_loss)
        return super().total(prediction, criterion) + weight * step_loss


class TargetSteps(Act):
    """Minimize the loss subject to mean(N) = target_steps, by dual ascent on the ponder weight.

    After each update: multiplier += adaptation_rate · (batch mean of N - target_steps), which may
    become negative. Steps follow the ponder weight only after some hundred updates, so dual ascent
    alone overshoots. Hence ponder weight = multiplier + damping · recent deviation (an augmented
    Lagrangian). Both terms are buffers, saved with the model.
    """

    settings = TargetStepsConfig
    multiplier: Tensor
    deviation: Tensor

    def __init__(self, config: TargetStepsConfig, state: int) -> None:
        super().__init__(config, state)
        self.register_buffer("multiplier", torch.zeros(()))
        self.register_buffer("deviation", torch.zeros(()))
        self.target: float | Tensor = config.target_steps
        self.rate: float | Tensor = config.adaptation_rate
        self.damping: float | Tensor = config.damping
        self.recent_share: float | Tensor = config.recent_share

    @property
    def current_ponder_weight(self) -> Tensor:
        return self.multiplier + per_trial(self.damping, self.deviation) * self.deviation

    @torch.no_grad()
    def on_update_end(
        self,
        prediction: Prediction,
        targets: Any,
        *,
        ignore_index: int = FILLER,
        mask: Tensor | None = None,
        weights: Tensor | None = None,
    ) -> None:
        if not self.adds_ponder_cost:
            return
        assert prediction.steps is not None
        criterion = Criterion(targets, None, ignore_index, self.fused, mask, weights)
        mean = criterion.mean(prediction.steps)
        excess = mean - per_trial(self.target, mean)
        self.multiplier += per_trial(self.rate, mean) * excess
        share = per_trial(self.recent_share, mean)
        self.deviation += share * (excess - self.deviation)


class MlpAct(Act):
    """h_n = sigmoid(w · tanh(U state_n + c) + b) (thesis section 6.4 asks for it)."""

    settings = MlpActConfig

    def build_unit(self, config: MlpActConfig, state: int) -> nn.Module:
        output = HaltingUnit(config.hidden_size, config.halting_bias)
        return nn.Sequential(Linear(state, config.hidden_size), nn.Tanh(), output)


class ChangeAct(Act):
    """h_n = sigmoid(w · [state_n; state_n - state_{n-1}] + b).

    The paper's discussion proposes to halt on differences of states.
    """

    settings = ChangeActConfig
    reads_change = True

    def build_unit(self, config: ChangeActConfig, state: int) -> nn.Module:
        return HaltingUnit(2 * state, config.halting_bias)

    def read(self, units: Tensor, before: Tensor, outputs: Callable[[], Tensor]) -> Tensor:
        after, before = self.units(units), self.units(before)
        return self.unit(torch.cat([after, after - before], dim=-1))
