"""Frozen word vectors and the trained projection behind them (paper appendix D)."""

import torch
from torch import Tensor, nn


class ProjectedWords(nn.Module):
    """Look up frozen vectors and project them to the model's width.

    The vectors are a buffer that is not saved with the model: they come from the data.

    Args:
        vectors: [rows, dimensions]; row 0 pads and is zero.
        width: size of a projected word.
        tanh: the paper's non-linear projection with a bias; Parikh's is linear without one.
        bias: a linear projection with a bias (Rocktäschel et al. 2016).
    """

    vectors: Tensor

    def __init__(self, vectors: Tensor, width: int, *, tanh: bool, bias: bool = False) -> None:
        super().__init__()
        self.register_buffer("vectors", vectors, persistent=False)
        self.projection = nn.Linear(vectors.shape[1], width, bias=tanh or bias)
        self.tanh = tanh

    def forward(self, ids: Tensor) -> Tensor:
        """Map token ids [batch, tokens] to words [batch, tokens, width]."""
        words: Tensor = self.projection(nn.functional.embedding(ids, self.vectors))
        return torch.tanh(words) if self.tanh else words
