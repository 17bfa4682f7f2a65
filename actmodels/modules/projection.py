"""Pre-trained word vectors, with some of them optionally trained, and their trained projection."""

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor, nn

from actmodels.modules.linear import Linear

WordFunction: TypeAlias = Callable[[Tensor], Tensor]


def table_rows(table: Tensor, ids: Tensor) -> Tensor:
    """Look up rows [..., dimensions] of a table [rows, dimensions]; when fused one per trial."""
    if table.dim() == 3:
        trials, rows, _ = table.shape
        firsts = torch.arange(trials, device=ids.device) * rows
        table, ids = table.flatten(0, 1), ids + firsts.view(-1, *(1,) * (ids.dim() - 1))
    return nn.functional.embedding(ids, table)


class WordTable(nn.Module):
    """Embedding of token ids; row 0 is the padding and zero."""

    vectors: Tensor  # frozen [words, dimensions], from the data, not in the state_dict
    trained: nn.Parameter | None  # trained vectors [trained, dimensions], or None
    slots: Tensor | None  # index of each word in `trained` [words], -1 if frozen

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        self.register_buffer("vectors", vectors, persistent=False)
        self.register_buffer("slots", None, persistent=False)
        self.register_parameter("trained", None)

    def train_words(self, ids: Tensor) -> None:
        """Make vectors trainable (unique token ids), starting from their current values."""
        self.trained = nn.Parameter(self.vectors[ids].clone())
        self.slots = torch.full((len(self.vectors),), -1, device=self.vectors.device)
        self.slots[ids] = torch.arange(len(ids), device=self.vectors.device)

    def look_up(self, ids: Tensor) -> Tensor:
        """Map token ids [batch, tokens] to vectors [batch, tokens, dimensions]."""
        frozen = table_rows(self.vectors, ids)
        if self.trained is None or self.slots is None:
            return frozen
        slots = self.slots[ids]
        # Select per token rather than copy the table per batch. Frozen tokens look up slot 0 too,
        # but `where` passes them no gradient.
        trained = table_rows(self.trained, slots.clamp(min=0))
        return torch.where(slots[..., None] >= 0, trained, frozen)


class ProjectedWords(WordTable):
    """Embedding and projection of words to the model's width (paper appendix D).

    tanh: tanh(W x + b) (paper); otherwise W x (Parikh et al. 2016).
    bias: with tanh=False, W x + b (Rocktäschel et al. 2016).
    static: no size depends on the words of a batch (actmodels.static_updates).
    """

    static = False

    def __init__(self, vectors: Tensor, width: int, *, tanh: bool, bias: bool = False) -> None:
        super().__init__(vectors)
        self.projection = Linear(vectors.shape[1], width, bias=tanh or bias)
        self.tanh = tanh

    def forward(self, ids: Tensor) -> Tensor:
        """Map token ids [batch, tokens] to words [batch, tokens, width]."""
        if self.is_static:
            return self.project(self.look_up(ids))
        return table_rows(*self.distinct(ids)[:2])

    def pair(self, premise: Tensor, hypothesis: Tensor, *functions: WordFunction) -> list[Tensor]:
        """Map the token ids of both sentences, each distinct word once; see `forward`.

        functions: of words [..., width] alone; those of both sentences follow, also once per word.
        """
        if self.is_static:
            words = [self(premise), self(hypothesis)]
            return words + [function(each) for function in functions for each in words]
        table, rows, _ = self.distinct(torch.cat([premise, hypothesis], dim=-1))
        sides = rows.split([premise.shape[-1], hypothesis.shape[-1]], dim=-1)
        tables = [table, *(function(table) for function in functions)]
        return [table_rows(each, side) for each in tables for side in sides]

    @property
    def is_static(self) -> bool:
        """Whether each token is projected: a graph has no sizes that depend on the words."""
        return self.static or torch.compiler.is_compiling()

    def distinct(self, ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Project the distinct words of a batch, in ascending order; if static all words.

        Returns:
            words [words, width]; when fused one table per trial [trials, words, width].
            the row of each token in it, of the shape of `ids`.
            their token ids [words].
        """
        if self.static:
            words, rows = torch.arange(len(self.vectors), device=ids.device), ids
        else:
            words, rows = ids.unique(return_inverse=True)
        each = words.expand(len(ids), -1) if ids.dim() == 3 else words
        return self.project(self.look_up(each)), rows, words

    def project(self, vectors: Tensor) -> Tensor:
        """Project vectors [..., dimensions] to [..., width]."""
        words: Tensor = self.projection(vectors)
        return torch.tanh(words) if self.tanh else words
