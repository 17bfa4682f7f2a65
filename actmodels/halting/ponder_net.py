"""PonderNet (Banino et al. 2021): a random halting step whose expected loss is minimized.

The prior of the step is geometric, or uniform.
"""

import math
from typing import ClassVar

import torch
from torch import Tensor

from actmodels.configs import PonderNetConfig, UniformPonderNetConfig
from actmodels.halting.base import AnsweringHalting
from actmodels.halting.states import Classify
from actmodels.halting.steps import Steps, halting_distribution, truncate
from actmodels.modules.linear import per_trial
from actmodels.modules.recurrent import rows
from actmodels.prediction import Criterion, Prediction
from actmodels.registry import HaltingConfig


class PonderNet(AnsweringHalting):
    """P(N = n) = h_n (1 - h_1) ... (1 - h_{n-1}), truncated where less than epsilon remains.

    objective = sum_n P(N = n) · loss of state n + ponder_weight · KL(P || geometric prior with mean
    prior_steps). The paper samples N at test time; here evaluation halts at the median of P, which
    is deterministic. The divergence is a regularizer, not a price: it applies from the start. The
    prior is not truncated (ours); the paper's is, after the last step. For a number of steps
    that shifts the divergence by a constant.
    """

    settings: ClassVar[type[HaltingConfig]] = PonderNetConfig
    keeps = ("outputs",)
    is_cost_optional = False

    def __init__(self, config: PonderNetConfig, state: int, *, classes: bool = True) -> None:
        super().__init__(config, state, classes=classes)
        self.prior_rate: float | Tensor = 1 / config.prior_steps

    def distribution(self, probabilities: Tensor) -> Tensor:
        return halting_distribution(probabilities)

    def answer(self, steps: Steps, classify: Classify) -> Prediction:
        """Return the expected answer and steps in training, those of the median N in evaluation."""
        masses = self.distribution(steps.probabilities)
        weights = truncate(masses, self.epsilon, steps.own_ends()).weights
        step_logits = steps.outputs(classify)
        if self.training:
            numbers = torch.arange(1, weights.shape[-1] + 1, device=weights.device)
            count = (weights * numbers).sum(dim=-1).detach()
            logits = self.logits((weights[..., None] * self.odds(step_logits)).sum(dim=-2))
        else:
            last = weights.shape[-1] - 1
            median = (torch.cumsum(weights, dim=-1) < 0.5).sum(dim=-1).clamp_max(last)
            count = (median + 1).to(weights.dtype)
            logits = rows(step_logits, median[..., None]).squeeze(-2)
        return Prediction(logits, count, self.divergence(weights), weights, step_logits)

    def log_prior(self, weights: Tensor) -> Tensor:
        """Return the log prior of each step [steps]; of weights [batch, steps]."""
        numbers = torch.arange(weights.shape[-1], device=weights.device, dtype=weights.dtype)
        rate = torch.as_tensor(per_trial(self.prior_rate, weights), dtype=weights.dtype)
        return torch.log(rate) + numbers * torch.log1p(-rate)

    def divergence(self, weights: Tensor) -> Tensor:
        """Return KL(weights || prior) [batch], with 0 · log 0 = 0."""
        # where(): the gradient of log 0 would be nan.
        safe = torch.where(weights > 0, weights, torch.ones_like(weights))
        return (weights * (torch.log(safe) - self.log_prior(weights))).sum(dim=-1)

    def losses(self, prediction: Prediction, criterion: Criterion) -> Tensor:
        """Return the expected loss [batch], sum_n P(N = n) · loss of state n."""
        assert prediction.weights is not None
        return (prediction.weights * criterion.step_losses(prediction)).sum(dim=-1)


class UniformPonderNet(PonderNet):
    """PonderNet whose prior gives each of the max_steps steps the same probability.

    A geometric prior trains late steps less (Ouro, Zhu et al. 2025, arXiv:2510.25741).
    """

    settings = UniformPonderNetConfig

    def __init__(self, config: UniformPonderNetConfig, state: int, *, classes: bool = True) -> None:
        AnsweringHalting.__init__(self, config, state, classes=classes)

    def log_prior(self, weights: Tensor) -> Tensor:
        return weights.new_full((), -math.log(self.max_steps))
