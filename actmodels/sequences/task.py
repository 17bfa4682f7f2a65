"""The interface of a task: data without end, drawn from a seeded generator."""

from abc import ABC, abstractmethod
from typing import ClassVar, Literal, TypeAlias

import torch

from actmodels.sequences.batch import SequenceBatch
from actmodels.sequences.outputs import Outputs

Marked: TypeAlias = Literal["sequence", "target"]


class Task(ABC):
    """One of Graves' supervised tasks (2016 section 3).

    The loss of a sequence is the sum over its targets of their joint cross-entropy; a sequence
    is right if every head is right at every target.

    Attributes:
        inputs: size of an input vector. outputs: the output layer.
        difficulty: what makes an instance difficult, in words.
        difficulty_of: whether a whole sequence has one difficulty, or each of its vectors.
        marked: what accuracy is a share of: sequences, or single targets.
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

    @abstractmethod
    def describe(self, batch: SequenceBatch, row: int) -> str:
        """One instance for people, as text."""
