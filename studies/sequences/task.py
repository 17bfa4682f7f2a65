"""The interface of tasks: sequences drawn from a seeded generator, their targets and losses."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional


class SequenceBatch(NamedTuple):
    """A batch of sequences, padded on the right."""

    inputs: Tensor  # [batch, time, inputs], 0 on padding
    mask: Tensor  # true for inputs [batch, time]
    targets: Tensor  # class of each head [batch, time, heads]
    target_mask: Tensor  # true where an input has a target [batch, time]
    difficulty: Tensor  # difficulty of each input [batch, time], 0 on padding

    def to(self, device: torch.device) -> "SequenceBatch":
        return SequenceBatch(*(part.to(device) for part in self))


def within(lengths: Tensor, time: int) -> Tensor:
    """Return a mask [..., time] that is true at the first `lengths` [...] positions."""
    return torch.arange(time) < lengths[..., None]


def uniform(low: int, high: int, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Draw integers from low to high, both included."""
    return torch.randint(low, high + 1, shape, generator=generator)


@dataclass(frozen=True)
class Outputs:
    """The output layer of a task: one softmax per head, or one sigmoid unit for two classes."""

    heads: int
    classes: int

    @property
    def size(self) -> int:
        return self.heads * (1 if self.classes == 2 else self.classes)

    def losses(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Sum all heads' cross-entropy in nats [...]: logits [..., size], targets [..., heads]."""
        if self.classes == 2:
            per_head = functional.binary_cross_entropy_with_logits(
                logits, targets.to(logits.dtype), reduction="none"
            )
        else:
            scores = torch.log_softmax(self.by_head(logits), dim=-1)
            per_head = -scores.gather(-1, targets[..., None]).squeeze(-1)
        return per_head.sum(dim=-1)

    def decisions(self, logits: Tensor) -> Tensor:
        """Return the most probable class of each head [..., heads]."""
        return (logits > 0).long() if self.classes == 2 else self.by_head(logits).argmax(dim=-1)

    def by_head(self, logits: Tensor) -> Tensor:
        """Reshape logits [..., size] of softmax heads to [..., heads, classes]."""
        return logits.view(*logits.shape[:-1], self.heads, self.classes)


AccuracyUnit: TypeAlias = Literal["sequence", "target"]


class Task(ABC):
    """A supervised task (Graves 2016, section 3).

    The loss of a sequence is the sum of its targets' losses; a sequence is correct if every head is
    correct at every target.
    """

    inputs: int  # size of an input vector
    outputs: Outputs  # the output layer
    # whether a sequence has one difficulty, or each of its vectors
    difficulty_of: ClassVar[Literal["sequence", "vector"]] = "vector"
    accuracy_unit: ClassVar[AccuracyUnit] = "sequence"  # the unit of accuracy

    @abstractmethod
    def sample(self, count: int, generator: torch.Generator) -> SequenceBatch:
        """Draw `count` sequences, padded to the longest."""

    def described(self, inputs: Tensor, targets: Tensor) -> tuple[str, str] | None:
        """Return an input [inputs] and its target [heads] as text; None: in no table."""
        return None

    def sample_dev(self, count: int, generator: torch.Generator) -> SequenceBatch:
        """Draw dev sequences, from a held-out part if the source is finite."""
        return self.sample(count, generator)
