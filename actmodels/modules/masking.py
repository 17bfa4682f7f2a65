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


def dropout_mask(shape: tuple[int, ...], rate: float, training: bool, like: Tensor) -> Tensor:
    """A mask of 0 and 1/(1 - rate), to be drawn once per example and used at every step.

    Drawing it once keeps dropout from compounding over inference steps, as it did in the 2016
    code. In evaluation it is a single 1.
    """
    if not training or rate == 0.0:
        return like.new_ones(())
    return torch.empty(shape, dtype=like.dtype, device=like.device).bernoulli_(1 - rate) / (
        1 - rate
    )
