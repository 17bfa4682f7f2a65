"""Key-value memory of Hop Attention."""

from typing import NamedTuple

import torch
from torch import Tensor

WINDOW = 3  # words: a fact like "jar in bag" links its first word to its last


class HopTables:
    """Keys and values of the distinct words of a batch, which all its examples share.

    Both have a row per distinct word and window position [3 · words, width].
    """

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        self.keys, self.values = keys, values


class HopMemory(NamedTuple):
    """Key-value memory of the premise, and the words of the hypothesis.

    Keys and values are sums over a window of words. A batch has few distinct words, so both are
    tables over distinct words, in which a step looks up the terms of each token.
    """

    tables: HopTables
    slots: Tensor  # rows of the premise's tokens, for each window position [batch, 3 · tokens]
    premise_mask: Tensor  # [batch, tokens]
    hypothesis: Tensor  # [batch, tokens, width]
    hypothesis_mask: Tensor  # [batch, tokens]

    def scores(self, query: Tensor) -> Tensor:
        """Return key_t · query of each premise token [batch, tokens]."""
        terms = (query @ self.tables.keys.mT).gather(-1, self.slots)
        return torch.stack(terms.chunk(WINDOW, dim=-1)).sum(dim=0)

    def mean(self, weights: Tensor) -> Tensor:
        """Return sum_t weight_t value_t [batch, width] for weights [batch, tokens]."""
        repeated = torch.cat([weights] * WINDOW, dim=-1)
        rows = weights.new_zeros(*weights.shape[:-1], self.tables.values.shape[-2])
        return rows.scatter_add(-1, self.slots, repeated) @ self.tables.values
