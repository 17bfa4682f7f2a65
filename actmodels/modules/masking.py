"""Attention over real tokens only: the one place where a mask turns into minus infinity."""

import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Softmax over the positions where `mask` is true; the others get exactly 0.

    Args:
        scores: unnormalised weights, any shape.
        mask: true for a real token; broadcasts to `scores`. Each slice along `dim` needs at
            least one true, or its weights are not a number: every sentence has a token.
    """
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=dim)
