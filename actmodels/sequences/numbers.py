"""Tasks on numbers: running sums of numbers given by their digits, and sorting."""

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from actmodels.sequences.config import AdditionConfig, SortConfig
from actmodels.sequences.task import Outputs, SequenceBatch, Task, uniform, within

BASE = 10
END = BASE  # the class that says that the number is over


class Addition(Task):
    """From the second number on: what is the sum so far? (Graves 2016 section 3.3)

    A number may begin with zeros; a sum is written without them, 0 as one digit. Places behind a
    sum's digits have the class END. A sequence of one number has no target, so never a mistake.
    """

    difficulty = "digits of the number"
    difficulty_of = "vector"

    def __init__(self, config: AdditionConfig) -> None:
        self.numbers, self.digits = config.numbers, config.digits
        self.least_digit_first = config.least_digit_first
        self.inputs = BASE * self.digits
        largest = self.numbers * (BASE**self.digits - 1)
        self.outputs = Outputs(heads=len(str(largest)), classes=BASE + 1)

    def sample(self, count: int, generator: torch.Generator) -> SequenceBatch:
        lengths = uniform(1, self.numbers, (count,), generator)
        time = int(lengths.max())
        widths = uniform(1, self.digits, (count, time), generator)
        digits = uniform(0, BASE - 1, (count, time, self.digits), generator)
        return self.batch(lengths, widths, digits)

    def batch(self, lengths: Tensor, widths: Tensor, digits: Tensor) -> SequenceBatch:
        """Inputs, targets of drawn lengths [batch], widths and digits [batch, time, digits]."""
        mask = within(lengths, widths.shape[1])
        widths = widths * mask
        used = within(widths, self.digits)
        inputs = one_hot(digits, BASE) * used[..., None]
        sums = self.values(digits, widths, used).cumsum(dim=1)
        asked = mask.clone()
        asked[:, 0] = False
        targets = self.written(sums) * asked[..., None]
        return SequenceBatch(inputs.flatten(2).float(), mask, targets, asked, widths)

    def values(self, digits: Tensor, widths: Tensor, used: Tensor) -> Tensor:
        """The numbers [batch, time]; 0 where there is none."""
        place = torch.arange(self.digits).expand_as(digits)
        power = place if self.least_digit_first else widths[..., None] - 1 - place
        return torch.where(used, digits * BASE ** power.clamp(min=0), 0).sum(dim=-1)

    def written(self, sums: Tensor) -> Tensor:
        """The classes of all heads [batch, time, heads] for sums [batch, time]."""
        heads = self.outputs.heads
        powers = BASE ** torch.arange(heads)
        width = (sums[..., None] >= powers).sum(dim=-1).clamp(min=1)
        place = torch.arange(heads).expand(*sums.shape, heads)
        power = place if self.least_digit_first else width[..., None] - 1 - place
        digits = sums[..., None] // BASE ** power.clamp(min=0) % BASE
        return torch.where(within(width, heads), digits, END)


class Sort(Task):
    """n numbers, then n inputs of zeros, at which the places of the numbers are asked in order.

    An input is [number, whether it is the last one]. The k-th target is the place, counted from 0,
    of the k-th smallest number (Graves 2016 section 3.4).
    """

    difficulty = "numbers to sort"
    difficulty_of = "sequence"

    def __init__(self, config: SortConfig) -> None:
        self.numbers = config.numbers
        self.inputs = 2
        self.outputs = Outputs(heads=1, classes=self.numbers)

    def sample(self, count: int, generator: torch.Generator) -> SequenceBatch:
        lengths = uniform(2, self.numbers, (count,), generator)
        numbers = torch.randn(count, int(lengths.max()), generator=generator)
        return self.batch(lengths, numbers)

    def batch(self, lengths: Tensor, numbers: Tensor) -> SequenceBatch:
        """Inputs and targets of numbers [batch, most], the first `lengths` of each."""
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
