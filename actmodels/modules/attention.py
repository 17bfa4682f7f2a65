"""Attention over real tokens: the one place where a mask turns into minus infinity."""

import torch
from torch import Tensor, nn

from actmodels.modules.linear import Linear


def masked(scores: Tensor, mask: Tensor) -> Tensor:
    """Scores where `mask`, which broadcasts to them, is true; elsewhere minus infinity."""
    return scores.masked_fill(~mask, float("-inf"))


def masked_softmax(scores: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Softmax where `mask`, which broadcasts, is true, 0 elsewhere; nan where it is never true."""
    return torch.softmax(masked(scores, mask), dim=dim)


def dot_scores(query: Tensor, memory: Tensor) -> Tensor:
    """memory_i · query [batch, tokens] of a query [batch, size] and [batch, tokens, size]."""
    return (query[..., None, :] @ memory.mT).squeeze(-2)  # on CPUs far faster than memory @ query


def weighted_mean(memory: Tensor, weights: Tensor) -> Tensor:
    """The mean [batch, size] of a memory [batch, tokens, size] by weights [batch, tokens]."""
    return (weights[..., None, :] @ memory).squeeze(-2)


class BilinearAttention(nn.Module):
    """weights_i = softmax_i(memory_i · (W query + b)) (paper eq. 3-4; Sordoni et al. 2016).

    The bias stays: at the first step the query is all zeros and b alone reads the memory.
    """

    def __init__(self, query: int, memory: int) -> None:
        super().__init__()
        self.transform = Linear(query, memory)

    def forward(self, query: Tensor, memory: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Map a query [batch, query] to attended memory and weights [batch, tokens]."""
        weights = masked_softmax(dot_scores(self.transform(query), memory), mask)
        return weighted_mean(memory, weights), weights
