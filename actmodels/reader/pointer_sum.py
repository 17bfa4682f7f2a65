"""Candidates' probabilities from attention over a document (Kadlec et al. 2016; eq. 18-19).

In logarithms: the scores of published size reach hundreds, where a probability in single
precision is 0 and its logarithm has no gradient.
"""

import torch
from torch import Tensor


def pointer_sum(scores: Tensor, mask: Tensor, candidate_at: Tensor, candidates: int) -> Tensor:
    """log of the attention that falls on each candidate, wherever it stands [batch, candidates].

    The attention on all other words is lost: the probabilities sum to at most 1. A candidate
    that stands nowhere in the document has -inf, without a gradient.

    Args:
        scores: l^d [batch, tokens]. mask: true for real tokens [batch, tokens].
        candidate_at: which candidate each token is [batch, tokens], below 0 for none.
    """
    log_weights = torch.log_softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    numbers = torch.arange(candidates, device=scores.device)
    stands = candidate_at[..., None, :] == numbers[:, None]  # [batch, candidates, tokens]
    return _summed(log_weights[..., None, :], stands)


def mixed(step_logs: Tensor, weights: Tensor) -> Tensor:
    """log of sum_t p_t P_t(a) [batch, candidates] (eq. 19).

    Args:
        step_logs: log P_t [batch, steps, candidates]; -inf for the same candidates in all steps.
        weights: p_t [batch, steps], sum 1.
    """
    least = torch.finfo(weights.dtype).tiny  # a weight that has rounded to 0 has no logarithm
    logs = step_logs + torch.log(weights.clamp_min(least))[..., None]
    return _summed(logs.transpose(-1, -2), (step_logs > float("-inf")).transpose(-1, -2))


def _summed(logs: Tensor, chosen: Tensor) -> Tensor:
    """log of the sum of exp(logs) over the chosen of the last dimension; -inf where none is."""
    none = ~chosen.any(dim=-1, keepdim=True)
    # logsumexp of nothing has a gradient that is not a number: it sums zeros, thrown away again
    kept = logs.masked_fill(~chosen, float("-inf")).masked_fill(none, 0.0)
    return torch.logsumexp(kept, dim=-1).masked_fill(none.squeeze(-1), float("-inf"))
