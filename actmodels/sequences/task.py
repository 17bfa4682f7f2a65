"""What a task is: data without end, drawn from a seeded generator, and what is asked of it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional


class SequenceBatch(NamedTuple):
    """BatchSize padded on the right.

    inputs: [batch, time, inputs]; zero where there is none. mask: true for inputs [batch, time].
    targets: the class of each head [batch, time, heads]. target_mask: true where there is a target
    [batch, time]; only at inputs. difficulty: of each input [batch, time], 0 on padding.
    """

    inputs: Tensor
    mask: Tensor
    targets: Tensor
    target_mask: Tensor
    difficulty: Tensor

    def to(self, device: torch.device) -> "SequenceBatch":
        return SequenceBatch(*(part.to(device) for part in self))


def within(lengths: Tensor, time: int) -> Tensor:
    """True at the first `lengths` of `time` places [..., time], for lengths [...]."""
    return torch.arange(time) < lengths[..., None]


def uniform(low: int, high: int, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Whole numbers from low to high, both included."""
    return torch.randint(low, high + 1, shape, generator=generator)


@dataclass(frozen=True)
class Outputs:
    """The output layer of a task: simultaneous classifications; two classes are a sigmoid unit."""

    heads: int
    classes: int

    @property
    def size(self) -> int:
        return self.heads * (1 if self.classes == 2 else self.classes)

    def losses(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Joint cross-entropy in nats [...], of logits [..., size], targets [..., heads]."""
        if self.classes == 2:
            of_heads = functional.binary_cross_entropy_with_logits(
                logits, targets.to(logits.dtype), reduction="none"
            )
        else:
            scores = torch.log_softmax(self.by_head(logits), dim=-1)
            of_heads = -scores.gather(-1, targets[..., None]).squeeze(-1)
        return of_heads.sum(dim=-1)

    def decisions(self, logits: Tensor) -> Tensor:
        """The likeliest class of each head [..., heads]."""
        return (logits > 0).long() if self.classes == 2 else self.by_head(logits).argmax(dim=-1)

    def by_head(self, logits: Tensor) -> Tensor:
        """Logits [..., heads, classes] of softmax heads."""
        return logits.view(*logits.shape[:-1], self.heads, self.classes)


Marked: TypeAlias = Literal["sequence", "target"]


class Task(ABC):
    """One of Graves' supervised tasks (2016 section 3).

    The loss of a sequence is the sum over its targets of their joint cross-entropy; a sequence
    is right if every head is right at every target.

    inputs: size of an input vector. outputs: the output layer. difficulty: in words;
    difficulty_of: a sequence, or each of its vectors. marked: the unit of accuracy.
    """

    inputs: int
    outputs: Outputs
    difficulty: ClassVar[str]
    difficulty_of: ClassVar[Literal["sequence", "vector"]]
    marked: ClassVar[Marked] = "sequence"

    @abstractmethod
    def sample(self, count: int, generator: torch.Generator) -> SequenceBatch:
        """Draw `count` sequences, padded to the longest of them."""

    def sample_dev(self, count: int, generator: torch.Generator) -> SequenceBatch:
        """Draw sequences for dev: fresh ones, unless the task has a finite source."""
        return self.sample(count, generator)
