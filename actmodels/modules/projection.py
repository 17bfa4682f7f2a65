"""Word vectors, frozen but for chosen rows, and the trained projection behind them."""

import torch
from torch import Tensor, nn

from actmodels.modules.linear import Linear


def table_rows(table: Tensor, ids: Tensor) -> Tensor:
    """Look up rows [..., dimensions] of a table [rows, dimensions], or of one per trial."""
    if table.dim() == 3:
        trials, rows, _ = table.shape
        firsts = torch.arange(trials, device=ids.device) * rows
        table, ids = table.flatten(0, 1), ids + firsts.view(-1, *(1,) * (ids.dim() - 1))
    return nn.functional.embedding(ids, table)


class WordTable(nn.Module):
    """Look up the vectors of words [rows, dimensions]; row 0 pads and is zero.

    The frozen vectors come from the data and are not saved with the model. trained: the rows that
    are trained [trained rows, dimensions], or None. slots: the place of each row in `trained`, -1
    for a frozen one [rows].
    """

    vectors: Tensor
    trained: nn.Parameter | None
    slots: Tensor | None

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        self.register_buffer("vectors", vectors, persistent=False)
        self.register_buffer("slots", None, persistent=False)
        self.register_parameter("trained", None)

    def train_rows(self, rows: Tensor) -> None:
        """Train these rows (token ids, each once) from now on, from the values that they have."""
        self.trained = nn.Parameter(self.vectors[rows].clone())
        self.slots = torch.full((len(self.vectors),), -1, device=self.vectors.device)
        self.slots[rows] = torch.arange(len(rows), device=self.vectors.device)

    def look_up(self, ids: Tensor) -> Tensor:
        """Map token ids [batch, tokens] to vectors [batch, tokens, dimensions]."""
        frozen = table_rows(self.vectors, ids)
        if self.trained is None or self.slots is None:
            return frozen
        slots = self.slots[ids]
        # A choice per token, not a table put together anew per batch; a frozen token looks up
        # slot 0 as well, and `where` passes that no gradient.
        own = table_rows(self.trained, slots.clamp(min=0))
        return torch.where(slots[..., None] >= 0, own, frozen)


class ProjectedWords(WordTable):
    """Look up vectors and project them to the model's width (paper appendix D).

    tanh: the paper's non-linear projection with a bias; Parikh's is linear without one.
    bias: a linear projection with a bias (Rocktäschel et al. 2016).
    """

    def __init__(self, vectors: Tensor, width: int, *, tanh: bool, bias: bool = False) -> None:
        super().__init__(vectors)
        self.projection = Linear(vectors.shape[1], width, bias=tanh or bias)
        self.tanh = tanh

    def forward(self, ids: Tensor) -> Tensor:
        """Map token ids [batch, tokens] to words [batch, tokens, width]."""
        words: Tensor = self.projection(self.look_up(ids))
        return torch.tanh(words) if self.tanh else words
