"""A memory that inference steps attend to, and whose gradient is formed after the last of them."""

from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.modules.attention import dot_scores, masked_softmax, weighted_mean


class _Use(NamedTuple):
    """One step's part of a memory's gradient: weights ⊗ attended + scores ⊗ query.

    rows: which of the memory's examples [examples], None for all in order.
    """

    rows: Tensor | None
    weights: Tensor
    attended: Tensor
    scores: Tensor
    query: Tensor


class Memory:
    """Words to attend to, of all examples of a batch or of those that are still running.

    Args:
        words: [batch, tokens, memory], in a pack [trials, batch, tokens, memory].
        mask: true for real tokens, as `words` without the last dimension.
    """

    def __init__(self, words: Tensor, mask: Tensor) -> None:
        self.words, self.mask, self.whole = words.detach(), mask, words.shape
        self.rows: Tensor | None = None
        self.uses: list[_Use] = []

    def look(self, query: Tensor) -> tuple[Tensor, Tensor]:
        """Attended memory [batch, memory] and weights [batch, tokens] of queries [batch, memory].

        weights_i = softmax_i(words_i · query)
        """
        weights = masked_softmax(dot_scores(query, self.words), self.mask)
        return weighted_mean(self.words, weights), weights

    def back(self, query: Tensor, weights: Tensor, attended: Tensor) -> Tensor:
        """Give the query's gradient for that of the attended memory; keep factors of the words'.

        Args:
            query, weights: of `look`. attended: the gradient of its first result.
        """
        change = dot_scores(attended, self.words)
        scores = torch.ops.aten._softmax_backward_data(change, weights, -1, weights.dtype)
        self.uses.append(_Use(self.rows, weights, attended, scores, query))
        return weighted_mean(self.words, scores)

    def select(self, places: Tensor, origin: Tensor, batch: tuple[int, ...]) -> "Memory":
        """The same memory for some of its examples.

        Args:
            places: which of the examples here, counted through all trials [examples].
            origin: which of the examples of the whole memory they are [examples].
            batch: the shape of the examples afterwards: (batch,), in a pack (trials, batch).
        """
        chosen = object.__new__(Memory)
        tokens, size = self.words.shape[-2:]
        words = self.words.reshape(-1, tokens, size).index_select(0, places)
        chosen.words = words.view(*batch, tokens, size)
        mask = self.mask.reshape(-1, tokens).index_select(0, places)
        chosen.mask = mask.view(*batch, tokens)
        chosen.rows, chosen.uses, chosen.whole = origin, self.uses, self.whole
        return chosen

    def gradient(self) -> Tensor:
        """That of the words of all examples, summed over the steps; forgets the factors."""
        total: Tensor | None = None
        uses = sorted(self.uses, key=lambda use: -len(use.weights.flatten(0, -2)))  # all come first
        for _number, group in groupby(uses, key=lambda use: id(use.rows)):
            same = list(group)
            left = torch.stack([part for use in same for part in (use.weights, use.scores)], dim=-1)
            right = torch.stack([part for use in same for part in (use.attended, use.query)], -2)
            product = (left @ right).view(-1, *self.whole[-2:])
            rows = same[0].rows
            if total is None or rows is None:
                total = product  # every example takes the first step
            else:
                total.index_add_(0, rows, product)
        self.uses.clear()
        assert total is not None
        return total.view(self.whole)
