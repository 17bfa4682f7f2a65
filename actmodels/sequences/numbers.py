"""Tasks on numbers: running sums of numbers in digits, and sorting."""

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from actmodels.sequences.config import AdditionConfig, SortConfig
from actmodels.sequences.task import Outputs, SequenceBatch, Task, uniform, within

BASE = 10
END = BASE  # the class behind the last digit of a sum


class Addition(Task):
    """Running sums, from the second number on (Graves 2016, section 3.3).

    Numbers may have leading zeros, sums have none (0 is one digit). Heads behind the last digit of
    a sum have the class END. A sequence of one number has no target, so it is always correct. The
    difficulty is the number of digits.
    """

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
        """Build a batch of lengths [batch], widths [batch, time], digits [batch, time, digits]."""
        mask = within(lengths, widths.shape[1])
        widths = widths * mask
        used = within(widths, self.digits)
        inputs = one_hot(digits, BASE) * used[..., None]
        sums = self.values(digits, widths, used).cumsum(dim=1)
        has_target = mask.clone()
        has_target[:, 0] = False
        targets = self.written(sums) * has_target[..., None]
        return SequenceBatch(inputs.flatten(2).float(), mask, targets, has_target, widths)

    def values(self, digits: Tensor, widths: Tensor, used: Tensor) -> Tensor:
        """Return the numbers [batch, time], 0 on padding."""
        place = torch.arange(self.digits).expand_as(digits)
        power = place if self.least_digit_first else widths[..., None] - 1 - place
        return torch.where(used, digits * BASE ** power.clamp(min=0), 0).sum(dim=-1)

    def written(self, sums: Tensor) -> Tensor:
        """Return the class of each head [batch, time, heads] for sums [batch, time]."""
        heads = self.outputs.heads
        powers = BASE ** torch.arange(heads)
        width = (sums[..., None] >= powers).sum(dim=-1).clamp(min=1)
        place = torch.arange(heads).expand(*sums.shape, heads)
        power = place if self.least_digit_first else width[..., None] - 1 - place
        digits = sums[..., None] // BASE ** power.clamp(min=0) % BASE
        return torch.where(within(width, heads), digits, END)


class Sort(Task):
    """n numbers, then n zero inputs with targets (Graves 2016, section 3.4).

    An input is [number, whether it is the last one]. The k-th target is the position, counted from
    0, of the k-th smallest number. The difficulty is n.
    """

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
        """Build a batch of numbers [batch, max length], the first `lengths` [batch] of each row."""
        longest = numbers.shape[1]
        real = within(lengths, longest)
        order = numbers.masked_fill(~real, float("inf")).argsort(dim=1, stable=True)
        inputs = torch.zeros(len(numbers), 2 * longest, 2)
        inputs[:, :longest, 0] = numbers * real
        inputs[torch.arange(len(numbers)), lengths - 1, 1] = 1.0
        mask = within(2 * lengths, 2 * longest)
        has_target = mask & ~within(lengths, 2 * longest)
        targets = torch.zeros(len(numbers), 2 * longest, dtype=torch.long)
        targets[has_target] = order[real]  # both row by row, `lengths` entries in each
        difficulty = lengths[:, None] * mask
        return SequenceBatch(inputs, mask, targets[..., None], has_target, difficulty)
