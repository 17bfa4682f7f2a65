"""Attention over real tokens, and soft alignment of two sentences (paper eq. 1-2).

The one place where a mask turns into minus infinity.
"""

import torch
from torch import Tensor, nn

from actmodels.modules.dropout import Dropout
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


class FeedForward(nn.Module):
    """ReLU(W2 · ReLU(W1 · x)), with dropout before each layer (Parikh et al. 2016)."""

    def __init__(self, inputs: int, width: int, dropout: float) -> None:
        super().__init__()
        first = (Dropout(dropout), Linear(inputs, width), nn.ReLU())
        self.layers = nn.Sequential(*first, Dropout(dropout), Linear(width, width), nn.ReLU())

    def forward(self, inputs: Tensor) -> Tensor:
        """Map [..., inputs] to [..., width]."""
        return self.layers(inputs)


class SoftAlignment(nn.Module):
    """Align each token with the other sentence: e_ij = F(h_i) · F(p_j), F shared."""

    def __init__(self, inputs: int, width: int, dropout: float) -> None:
        super().__init__()
        self.attend = FeedForward(inputs, width, dropout)

    def forward(
        self, premise: Tensor, hypothesis: Tensor, premise_mask: Tensor, hypothesis_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Align words [batch, tokens, inputs]: beta, then the premise's alpha, same shapes."""
        scores = self.attend(premise) @ self.attend(hypothesis).transpose(-1, -2)  # [b, p, h]
        over_hypothesis = masked_softmax(scores, hypothesis_mask[..., None, :], dim=-1)
        over_premise = masked_softmax(scores, premise_mask[..., None], dim=-2)
        return (
            self.summed(over_hypothesis, hypothesis),
            self.summed(over_premise.transpose(-1, -2), premise),
        )

    def summed(self, weights: Tensor, words: Tensor) -> Tensor:
        """Sum each example's words by its own weights [batch, positions, tokens]."""
        return weights @ words
