"""A memory that inference steps attend to, and whose gradient is formed after the last of them."""

from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.modules.attention import masked


class _Use(NamedTuple):
    """One step's part of a memory's gradient: weights ⊗ attended + scores ⊗ query.

    rows: which of the memory's examples [examples], None for all in order.
    weights, scores: [examples, 1, tokens]. attended, query: [examples, 1, memory].
    """

    rows: Tensor | None
    weights: Tensor
    attended: Tensor
    scores: Tensor
    query: Tensor


class Memory:
    """Words to attend to [batch, tokens, memory], of a whole batch or of its running examples.

    The examples of a fusion [trials, batch, tokens, memory] stand in one row, trial after trial.
    """

    def __init__(self, words: Tensor, mask: Tensor) -> None:
        self.whole = words.shape
        self.words = words.detach().flatten(0, -3)
        # added to scores, it leaves padding out
        self.shield = _rows(masked(torch.zeros_like(mask, dtype=words.dtype), mask))
        self.rows: Tensor | None = None
        self.uses: list[_Use] = []

    def attend(self, query: Tensor) -> tuple[Tensor, Tensor]:
        """Attend by softmax_i(words_i · query) with queries [batch, memory] or [trials, ...].

        Return the attended memory, as the query, and weights [examples, 1, tokens].
        """
        scores = torch.baddbmm(self.shield, _rows(query), self.words.mT)
        weights = torch.softmax(scores, dim=-1)
        return torch.bmm(weights, self.words).view(query.shape), weights

    def back(self, query: Tensor, weights: Tensor, attended: Tensor) -> Tensor:
        """Map the gradient of `attended` to the query's; keep factors of the words'."""
        gradient = _rows(attended)
        change = torch.bmm(gradient, self.words.mT)
        scores = torch.ops.aten._softmax_backward_data(change, weights, -1, weights.dtype)
        self.uses.append(_Use(self.rows, weights, gradient, scores, _rows(query)))
        return torch.bmm(scores, self.words).view(query.shape)

    def select(self, indices: Tensor, original_indices: Tensor) -> "Memory":
        """Select examples at `indices`, which are `original_indices` of the batch [examples]."""
        chosen = object.__new__(Memory)
        chosen.words = self.words.index_select(0, indices)
        chosen.shield = self.shield.index_select(0, indices)
        chosen.rows, chosen.uses, chosen.whole = original_indices, self.uses, self.whole
        return chosen

    def gradient(self) -> Tensor:
        """That of the words of all examples, summed over the steps; forgets the factors."""
        total: Tensor | None = None
        uses = sorted(self.uses, key=lambda use: -len(use.weights))  # all come first
        for _number, group in groupby(uses, key=lambda use: id(use.rows)):
            same = list(group)
            left = torch.cat([part for use in same for part in (use.weights, use.scores)], dim=1)
            right = torch.cat([part for use in same for part in (use.attended, use.query)], dim=1)
            product = torch.bmm(left.mT, right)
            rows = same[0].rows
            if total is None or rows is None:
                total = product  # every example takes the first step
            else:
                total.index_add_(0, rows, product)
        self.uses.clear()
        assert total is not None
        return total.view(self.whole)


def _rows(vectors: Tensor) -> Tensor:
    """Of each example one row [examples, 1, size]."""
    return vectors.flatten(0, -2).unsqueeze(1)
