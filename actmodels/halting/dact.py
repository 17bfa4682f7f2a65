"""Differentiable ACT (Eyzaguirre & Soto 2020): every answer so far, mixed as inference goes on."""

import torch
from torch import Tensor

from actmodels.halting.base import Classify, PonderedHalting, still_open
from actmodels.modules.linear import per_trial
from actmodels.prediction import Prediction, chosen


class Dact(PonderedHalting):
    """a_n = p_{n-1} y_n + (1 - p_{n-1}) a_{n-1}, with p_n = (1 - h_1) ... (1 - h_n), p_0 = 1.

    y_n are the class probabilities of state n, p_n how much later steps may still change the
    answer: their sum is the ponder cost. An evaluated example halts at the first step after which
    its class cannot change any more, which never changes the class.
    """

    def has_halted(self, probabilities: Tensor) -> Tensor:
        """Later steps change the answer by less than epsilon."""
        left = torch.prod(1 - probabilities, dim=-1)
        return ~(left >= per_trial(self.epsilon, left))  # one that is not a number ends too

    def answer(self, states: Tensor, probabilities: Tensor, classify: Classify) -> Prediction:
        """Mix the answers; steps end in training where p falls below epsilon, else once settled."""
        open_, before = still_open(probabilities)
        # an example ends by itself, whatever its batch
        reached = before >= per_trial(self.epsilon, before)
        before = before * reached
        answers = torch.softmax(classify(states), dim=-1)
        mixed, running = [answers[..., 0, :]], answers[..., 0, :]
        for n in range(1, answers.shape[-2]):
            share = before[..., n, None]
            running = share * answers[..., n, :] + (1 - share) * running
            mixed.append(running)
        mixture = torch.stack(mixed, dim=-2)  # a_n [batch, steps, labels]
        logits = torch.log(running.clamp_min(torch.finfo(running.dtype).tiny))
        steps = reached.sum(dim=-1) if self.training else self.settled(mixture, open_, reached)
        weights = self.shares(before)
        cost = (open_ * reached).sum(dim=-1)
        return Prediction(logits, steps.to(logits.dtype), cost, weights)

    def settled(self, mixture: Tensor, open_: Tensor, reached: Tensor) -> Tensor:
        """The first step [batch] after which no later one can change the class.

        d steps for the runner-up shrink the lead by (1 - p)^d and add 1 - (1 - p)^d.
        """
        best = mixture.topk(2, dim=-1).values
        lead = best[..., 0] - best[..., 1]
        steps = torch.arange(1, mixture.shape[-2] + 1, device=mixture.device)
        kept = (1 - open_) ** (self.max_steps - steps)
        safe = (lead * kept >= 1 - kept) | ~reached
        never = torch.full_like(steps, self.max_steps)
        first = torch.where(safe, steps, never).amin(dim=-1)
        return torch.minimum(first, reached.sum(dim=-1))

    def shares(self, before: Tensor) -> Tensor:
        """What each step's answer counts in the end [batch, steps], sum 1."""
        kept = torch.flip(torch.cumprod(torch.flip(1 - before, [-1]), dim=-1), [-1])
        after = torch.cat([kept[..., 1:], torch.ones_like(kept[..., :1])], dim=-1)
        return before * after

    def losses(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """Negative log-likelihood of the mixture [batch]."""
        return -chosen(prediction.logits, labels)
