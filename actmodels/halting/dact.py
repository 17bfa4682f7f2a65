"""Differentiable ACT (Eyzaguirre & Soto 2020): a running mixture of the answers of all steps."""

from typing import Any

import torch
from torch import Tensor

from actmodels.configs import DactConfig
from actmodels.halting.base import AnsweringHalting
from actmodels.halting.states import Classify
from actmodels.halting.steps import Steps, survival
from actmodels.modules.linear import per_trial
from actmodels.modules.recurrent import rows
from actmodels.prediction import Criterion, Prediction, label_losses


class Dact(AnsweringHalting):
    """a_n = p_{n-1} y_n + (1 - p_{n-1}) a_{n-1}, with p_n = (1 - h_1) ... (1 - h_n), p_0 = 1.

    y_n are the class probabilities of state n; p_n bounds how much later steps can change the
    answer, and the sum of p_n is the ponder cost. In evaluation an example halts at the first step
    after which `lookahead` further steps cannot change its class. With lookahead 0 these are all
    steps up to max_steps (the paper's rule): the class never changes, but a larger max_steps
    means more steps. With 1 neither the steps nor the answer depend on max_steps.

    Ours: the bound (see `settled_step`) is tighter than the paper's, a* (1 - p)^d >= a_ru + p d. It
    never changes the class and halts no later. Training ends where p < epsilon; the paper trains
    a fixed number of steps.
    """

    settings = DactConfig
    keeps = ("outputs",)

    def __init__(self, config: DactConfig, state: int, **options: Any) -> None:
        super().__init__(config, state, **options)
        self.lookahead = config.lookahead

    def has_halted(self, probabilities: Tensor) -> Tensor:
        """Return where later steps change the answer by less than epsilon [batch]."""
        remaining = survival(probabilities)[0][..., -1]
        return ~(remaining >= per_trial(self.epsilon, remaining))  # nan halts as well

    def answer(self, steps: Steps, classify: Classify) -> Prediction:
        """Mix the answers of all steps up to N.

        In training N is the step at which p falls below epsilon, in evaluation `settled_step`;
        with lookahead 0 later steps refine the probabilities of the settled class.
        """
        after, before = survival(steps.probabilities)
        taken = before >= per_trial(self.epsilon, before)  # independent of the batch
        if (last := steps.last) is not None:
            numbers = torch.arange(1, taken.shape[-1] + 1, device=taken.device)
            taken = taken & (numbers <= last[..., None])
        before = before * taken
        answers = self.odds(steps.outputs(classify))
        mixed, mixture = [answers[..., 0, :]], answers[..., 0, :]
        for n in range(1, answers.shape[-2]):
            share = before[..., n, None]
            mixture = share * answers[..., n, :] + (1 - share) * mixture
            mixed.append(mixture)
        settles = self.classes and not self.training
        count = self.settled_step(mixed, after, taken) if settles else taken.sum(dim=-1)
        if self.lookahead and settles:
            taken = torch.arange(taken.shape[-1], device=count.device) < count[..., None]
            before = before * taken
            mixture = rows(torch.stack(mixed, dim=-2), count[..., None] - 1).squeeze(-2)
        cost, logits = (after * taken).sum(dim=-1), self.logits(mixture)
        return Prediction(logits, count.to(cost.dtype), cost, self.step_weights(before))

    def settled_step(self, mixed: list[Tensor], after: Tensor, taken: Tensor) -> Tensor:
        """Return the first step [batch] after which the class is settled; see the class.

        d further steps shrink the lead over the runner-up by (1 - p)^d and add at most
        1 - (1 - p)^d. mixed: a_n [batch, labels] of each step. after, taken: [batch, steps].
        """
        best = torch.stack(mixed, dim=-2).topk(2, dim=-1).values
        lead = best[..., 0] - best[..., 1]
        steps = torch.arange(1, len(mixed) + 1, device=lead.device)
        most = max(self.max_steps, len(mixed))  # a caller may allow more
        kept = (1 - after) ** (self.lookahead or most - steps)
        settled = (lead * kept >= 1 - kept) | ~taken
        first = torch.where(settled, steps, torch.full_like(steps, most)).amin(dim=-1)
        return torch.minimum(first, taken.sum(dim=-1))

    def step_weights(self, before: Tensor) -> Tensor:
        """Return the weight of each step in the final mixture [batch, steps], sum 1."""
        return before * torch.flip(survival(torch.flip(before, [-1]))[1], [-1])

    def losses(self, prediction: Prediction, criterion: Criterion) -> Tensor:
        """Return the negative log-likelihood of the mixture, or its loss [batch]."""
        if criterion.loss is not None:
            return super().losses(prediction, criterion)
        return label_losses(prediction.logits, criterion.targets, criterion.ignore_index)
