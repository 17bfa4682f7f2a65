"""PonderNet (Banino et al. 2021): a random halting step whose expected loss is minimized."""

import torch
from torch import Tensor

from actmodels.configs import PonderNetConfig
from actmodels.halting.base import Classify, PonderedHalting, halting_distribution, truncate
from actmodels.modules.linear import per_trial
from actmodels.prediction import Prediction, step_losses


class PonderNet(PonderedHalting):
    """P(N = n) = h_n (1 - h_1) ... (1 - h_{n-1}), truncated where less than epsilon remains.

    objective = sum_n P(N = n) · loss of state n + ponder_weight · KL(P || geometric prior with mean
    prior_steps). The paper samples N at test time; here evaluation halts at the median of P, which
    is deterministic. The divergence is a regularizer, not a price: it applies from the start.
    """

    is_cost_optional = False

    def __init__(self, config: PonderNetConfig, state: int) -> None:
        super().__init__(config, state)
        self.prior_rate: float | Tensor = 1 / config.prior_steps

    def distribution(self, probabilities: Tensor) -> Tensor:
        return halting_distribution(probabilities)

    def answer(self, states: Tensor, probabilities: Tensor, classify: Classify) -> Prediction:
        """Return the expected answer and steps in training, those of the median N in evaluation."""
        weights = truncate(self.distribution(probabilities), self.epsilon).weights
        step_logits = classify(states)
        if self.training:
            numbers = torch.arange(1, weights.shape[-1] + 1, device=weights.device)
            steps = (weights * numbers).sum(dim=-1).detach()
            mixture = weights[..., None] * torch.softmax(step_logits, dim=-1)
            logits = torch.log(mixture.sum(dim=-2).clamp_min(torch.finfo(weights.dtype).tiny))
        else:
            last = weights.shape[-1] - 1
            median = (torch.cumsum(weights, dim=-1) < 0.5).sum(dim=-1).clamp_max(last)
            steps = (median + 1).to(weights.dtype)
            picked = median[..., None, None].expand(*median.shape, 1, step_logits.shape[-1])
            logits = step_logits.gather(-2, picked).squeeze(-2)
        return Prediction(logits, steps, self.divergence(weights), weights, step_logits)

    def divergence(self, weights: Tensor) -> Tensor:
        """Return KL(weights || geometric prior) [batch], with 0 · log 0 = 0."""
        numbers = torch.arange(weights.shape[-1], device=weights.device, dtype=weights.dtype)
        rate = torch.as_tensor(per_trial(self.prior_rate, weights), dtype=weights.dtype)
        log_prior = torch.log(rate) + numbers * torch.log1p(-rate)
        # where(): the gradient of log 0 would be nan.
        safe = torch.where(weights > 0, weights, torch.ones_like(weights))
        return (weights * (torch.log(safe) - log_prior)).sum(dim=-1)

    def losses(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """Return the expected loss [batch], sum_n P(N = n) · loss of state n."""
        assert prediction.weights is not None
        return (prediction.weights * step_losses(prediction, labels)).sum(dim=-1)
