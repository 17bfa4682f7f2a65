"""Masked attention, soft alignment of premise and hypothesis (paper eq. 1-2), key-value memory."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.data.pairs import Batch
from actmodels.modules.dropout import Dropout
from actmodels.modules.linear import Linear, consists_of
from actmodels.modules.projection import ProjectedWords

WINDOW = 3  # words: a fact like "jar in bag" links its first word to its last


def masked(scores: Tensor, mask: Tensor) -> Tensor:
    """Set scores to minus infinity where `mask`, which broadcasts to them, is false."""
    return scores.masked_fill(~mask, float("-inf"))


def masked_softmax(scores: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Softmax over the true entries of `mask`, 0 elsewhere; nan in a row without any."""
    return torch.softmax(masked(scores, mask), dim=dim)


def dot_scores(query: Tensor, memory: Tensor) -> Tensor:
    """Return memory_i · query [batch, tokens] for memory [batch, tokens, size]."""
    return (query[..., None, :] @ memory.mT).squeeze(-2)  # faster on CPUs than memory @ query


def weighted_mean(memory: Tensor, weights: Tensor) -> Tensor:
    """Average a memory [batch, tokens, size] with weights [batch, tokens] to [batch, size]."""
    return (weights[..., None, :] @ memory).squeeze(-2)


class BilinearAttention(nn.Module):
    """weights_i = softmax_i(memory_i · (W query + b)) (paper eq. 3-4; Sordoni et al. 2016).

    The bias b is needed: at the first step the query is zero, so b alone selects words.
    """

    def __init__(self, query: int, memory: int) -> None:
        super().__init__()
        self.transform = Linear(query, memory)

    def forward(self, query: Tensor, memory: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the attended memory [batch, memory] and the weights [batch, tokens]."""
        weights = masked_softmax(dot_scores(self.transform(query), memory), mask)
        return weighted_mean(memory, weights), weights


class FeedForward(nn.Module):
    """ReLU(W2 · ReLU(W1 · x)), with dropout before each layer (Parikh et al. 2016)."""

    def __init__(self, inputs: int, width: int, dropout: float) -> None:
        super().__init__()
        first = (Dropout(dropout), Linear(inputs, width), nn.ReLU())
        self.layers = nn.Sequential(*first, Dropout(dropout), Linear(width, width), nn.ReLU())

    @property
    def linear(self) -> list[nn.Linear]:
        return [layer for layer in self.layers if isinstance(layer, nn.Linear)]

    def forward(self, inputs: Tensor) -> Tensor:
        """Map [..., inputs] to [..., width]."""
        return self.layers(inputs)


class SoftAlignment(nn.Module):
    """Align each token with the other sentence by e_ij = F(p_i) · F(h_j), F shared (eq. 1-2)."""

    def __init__(self, inputs: int, width: int, dropout: float) -> None:
        super().__init__()
        self.attend = FeedForward(inputs, width, dropout)

    @property
    def is_by_word(self) -> bool:
        """Whether `attend` may see each distinct word once: no dropout, hook or other layer."""
        types = (SoftAlignment, FeedForward, nn.Sequential, Dropout, Linear, nn.ReLU)
        dropouts = [part for part in self.modules() if isinstance(part, Dropout)]
        return consists_of(self, types) and all(dropout.idle for dropout in dropouts)

    def forward(
        self, premise: Tensor, hypothesis: Tensor, premise_mask: Tensor, hypothesis_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return what the words of each sentence align to.

        Args:
            premise: words [batch, premise tokens, inputs], and their mask [batch, premise tokens].
            hypothesis: words [batch, hypothesis tokens, inputs], and their mask.

        Returns:
            beta, of the shape of `premise`: hypothesis words averaged for each premise word.
            alpha, of the shape of `hypothesis`: premise words averaged for each hypothesis word.
        """
        attending = [self.attend(premise), self.attend(hypothesis)]
        return self.align(premise, hypothesis, premise_mask, hypothesis_mask, attending)

    def align(
        self,
        premise: Tensor,
        hypothesis: Tensor,
        premise_mask: Tensor,
        hypothesis_mask: Tensor,
        attending: Sequence[Tensor],
    ) -> tuple[Tensor, Tensor]:
        """Return what `forward` does; attending: F of the words of each sentence."""
        scores = attending[0] @ attending[1].transpose(-1, -2)  # [batch, p, h]
        over_hypothesis = masked_softmax(scores, hypothesis_mask[..., None, :], dim=-1)
        over_premise = masked_softmax(scores, premise_mask[..., None], dim=-2)
        beta = self.summed(over_hypothesis, hypothesis)
        return beta, self.summed(over_premise.transpose(-1, -2), premise)

    def summed(self, weights: Tensor, words: Tensor) -> Tensor:
        """Average words [batch, tokens, size] with weights [batch, positions, tokens]."""
        return weights @ words


def aligned_words(
    words: ProjectedWords, alignment: nn.Module, batch: Batch
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the words of both sentences and what they align to: premise, hypothesis, beta, alpha.

    Without dropout F depends on a word alone, and is computed once for each distinct word.
    """
    sides, masks = (batch.premise, batch.hypothesis), (batch.premise_mask, batch.hypothesis_mask)
    if isinstance(alignment, SoftAlignment) and alignment.is_by_word:
        premise, hypothesis, *attending = words.pair(*sides, alignment.attend)
        return premise, hypothesis, *alignment.align(premise, hypothesis, *masks, attending)
    premise, hypothesis = words.pair(*sides)
    return premise, hypothesis, *alignment(premise, hypothesis, *masks)


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
    scale: Tensor | None = None  # factor of the scores [batch, 1]; None: 1

    def scores(self, query: Tensor) -> Tensor:
        """Return scale · key_t · query of each premise token [batch, tokens]."""
        terms = (query @ self.tables.keys.mT).gather(-1, self.slots)
        scores = torch.stack(terms.chunk(WINDOW, dim=-1)).sum(dim=0)
        return scores if self.scale is None else self.scale * scores

    def mean(self, weights: Tensor) -> Tensor:
        """Return sum_t weight_t value_t [batch, width] for weights [batch, tokens]."""
        repeated = torch.cat([weights] * WINDOW, dim=-1)
        rows = weights.new_zeros(*weights.shape[:-1], self.tables.values.shape[-2])
        return rows.scatter_add(-1, self.slots, repeated) @ self.tables.values
