"""Sorting numbers that come one at a time (Graves 2016 section 3.4)."""

import torch
from torch import Tensor

from actmodels.sequences.batch import SequenceBatch, uniform, within
from actmodels.sequences.config import SortConfig
from actmodels.sequences.outputs import Outputs
from actmodels.sequences.task import Task


class Sort(Task):
    """n numbers, then n inputs of zeros, at which the places of the numbers are asked in order.

    An input is [number, whether it is the last one]. The k-th target is the place, counted from
    0, at which the k-th smallest number stood.
    """

    difficulty = "numbers to sort"
    difficulty_of = "sequence"

    def __init__(self, config: SortConfig) -> None:
        self.numbers = config.numbers
        self.inputs = 2
        self.outputs = Outputs(heads=1, classes=self.numbers)

    def sample(self, count: int, generator: torch.Generator) -> SequenceBatch:
        """Sequences of 2 to `numbers` numbers of a standard normal distribution."""
        lengths = uniform(2, self.numbers, (count,), generator)
        numbers = torch.randn(count, int(lengths.max()), generator=generator)
        return self.batch(lengths, numbers)

    def batch(self, lengths: Tensor, numbers: Tensor) -> SequenceBatch:
        """Inputs and targets of numbers [batch, most], of which the first `lengths` [batch] hold.

        Of equal numbers the earlier one comes first.
        """
        most = numbers.shape[1]
        given = within(lengths, most)
        order = numbers.masked_fill(~given, float("inf")).argsort(dim=1, stable=True)
        inputs = torch.zeros(len(numbers), 2 * most, 2)
        inputs[:, :most, 0] = numbers * given
        inputs[torch.arange(len(numbers)), lengths - 1, 1] = 1.0
        mask = within(2 * lengths, 2 * most)
        asked = mask & ~within(lengths, 2 * most)
        targets = torch.zeros(len(numbers), 2 * most, dtype=torch.long)
        targets[asked] = order[given]  # both row by row, `lengths` in each
        difficulty = lengths[:, None] * mask
        return SequenceBatch(inputs, mask, targets[..., None], asked, difficulty)

    def describe(self, batch: SequenceBatch, row: int) -> str:
        """Such as `0.31 -1.20 0.05 -> 1 2 0`."""
        count = int(batch.difficulty[row, 0])
        numbers = " ".join(f"{float(value):.2f}" for value in batch.inputs[row, :count, 0])
        places = " ".join(str(int(place)) for place in batch.targets[row, count : 2 * count, 0])
        return f"{numbers} -> {places}"
