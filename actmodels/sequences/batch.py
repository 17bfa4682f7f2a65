"""What a task hands to a model: sequences of vectors, and what is asked of them."""

from typing import NamedTuple

import torch
from torch import Tensor


class SequenceBatch(NamedTuple):
    """Sequences padded on the right.

    inputs: [batch, time, inputs]; zero where there is no input.
    mask: true where the sequence has an input [batch, time].
    targets: the class of each head [batch, time, heads]; 0 where there is no target.
    target_mask: true where there is a target [batch, time]; only where there is an input.
    difficulty: of the input [batch, time], as its task counts it; 0 on padding.
    """

    inputs: Tensor
    mask: Tensor
    targets: Tensor
    target_mask: Tensor
    difficulty: Tensor

    def to(self, device: torch.device) -> "SequenceBatch":
        """The same on another device."""
        return SequenceBatch(*(part.to(device) for part in self))

    def rows(self, start: int, end: int) -> "SequenceBatch":
        """Sequences start to end - 1, as long as they are here."""
        return SequenceBatch(*(part[start:end] for part in self))


def within(lengths: Tensor, time: int) -> Tensor:
    """True at the first `lengths` of `time` places [..., time], for lengths [...]."""
    return torch.arange(time) < lengths[..., None]


def uniform(low: int, high: int, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Whole numbers from low to high, both included."""
    return torch.randint(low, high + 1, shape, generator=generator)
