"""Attention memory of the fused inference steps, with one gradient computation for all steps."""

import copy
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.by_hand.parts import softmax_back
from actmodels.modules.attention import masked


class _Use(NamedTuple):
    """Factors of one step's gradient of the memory: weights ⊗ attended + scores ⊗ query."""

    rows: Tensor | None  # indices of its examples in the batch [examples]; None for all in order
    weights: Tensor  # [examples, 1, tokens]
    attended: Tensor  # gradient [examples, 1, memory]
    scores: Tensor  # gradient [examples, 1, tokens]
    query: Tensor  # [examples, 1, memory]


class Memory:
    """Memory [batch, tokens, memory] of all examples or of the active ones.

    When fused, [trials, batch, tokens, memory] is flattened to one dimension of examples.
    """

    def __init__(self, words: Tensor, mask: Tensor) -> None:
        self.full_shape = words.shape
        self.words = words.detach().flatten(0, -3)
        # minus infinity at padding, added to the scores
        self.mask_bias = _rows(masked(torch.zeros_like(mask, dtype=words.dtype), mask))
        self.rows: Tensor | None = None
        self.uses: list[_Use] = []

    def attend(self, query: Tensor) -> tuple[Tensor, Tensor]:
        """Attend with weights softmax_i(words_i · query); query: [(trials,) batch, memory].

        Return the attended memory, of the query's shape, and the weights [examples, 1, tokens].
        """
        scores = torch.baddbmm(self.mask_bias, _rows(query), self.words.mT)
        weights = torch.softmax(scores, dim=-1)
        return torch.bmm(weights, self.words).view(query.shape), weights

    def back(self, query: Tensor, weights: Tensor, attended: Tensor) -> Tensor:
        """Return the gradient of the query from that of `attended`; store the memory's factors."""
        gradient = _rows(attended)
        change = torch.bmm(gradient, self.words.mT)
        scores = softmax_back(change, weights)
        self.uses.append(_Use(self.rows, weights, gradient, scores, _rows(query)))
        return torch.bmm(scores, self.words).view(query.shape)

    def select(self, indices: Tensor, original_indices: Tensor) -> "Memory":
        """Select the examples at `indices`, which are `original_indices` of the full batch."""
        selected = copy.copy(self)  # shares `uses`
        selected.words = self.words.index_select(0, indices)
        selected.mask_bias = self.mask_bias.index_select(0, indices)
        selected.rows = original_indices
        return selected

    def gradient(self) -> Tensor:
        """Return the gradient of the memory, summed over the steps, and clear the factors."""
        total: Tensor | None = None
        uses = sorted(self.uses, key=lambda use: -len(use.weights))  # first that of all examples
        for _number, group in groupby(uses, key=lambda use: id(use.rows)):
            same = list(group)
            left = torch.cat([part for use in same for part in (use.weights, use.scores)], dim=1)
            right = torch.cat([part for use in same for part in (use.attended, use.query)], dim=1)
            product = torch.bmm(left.mT, right)
            rows = same[0].rows
            if total is None or rows is None:
                total = product
            else:
                total.index_add_(0, rows, product)
        self.uses.clear()
        assert total is not None
        return total.view(self.full_shape)


def _rows(vectors: Tensor) -> Tensor:
    """Reshape [..., size] to one row per example [examples, 1, size]."""
    return vectors.flatten(0, -2).unsqueeze(1)
