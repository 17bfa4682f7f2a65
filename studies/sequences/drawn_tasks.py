"""Tasks of Graves (2016, section 3): parity, binary gates, running sums, sorting, and characters.

Two details of logic are not in our copy of the paper; our readings:
- Gate i of a vector computes b_{i+1} = T_i(P = b_i, Q = b_{i-1}).
- From the second vector on, b_1 is random and b_0 is the previous target, 0 in the input.

Nor are three of sort: an input is [number, end flag], the targets belong to n zero inputs after the
numbers, and positions count from 0.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from actmodels.errors import DataError
from studies.sequences.config import (
    AdditionConfig,
    CharactersConfig,
    LogicConfig,
    ParityConfig,
    SortConfig,
)
from studies.sequences.task import Outputs, SequenceBatch, Task, uniform, within

# Graves' table 1: truth values for (P, Q) = TT, TF, FT, FF.
GATES: dict[str, tuple[int, int, int, int]] = {
    "NOR": (0, 0, 0, 1),
    "Xq": (0, 0, 1, 0),  # not P and Q
    "ABJ": (0, 1, 0, 0),  # P and not Q
    "XOR": (0, 1, 1, 0),
    "NAND": (0, 1, 1, 1),
    "AND": (1, 0, 0, 0),
    "XNOR": (1, 0, 0, 1),
    "if/then": (1, 0, 1, 1),  # not P or Q
    "then/if": (1, 1, 0, 1),  # P or not Q
    "OR": (1, 1, 1, 0),
}
NAMES = tuple(GATES)
TRUTH = torch.tensor([GATES[name] for name in NAMES])  # [gate, TT TF FT FF]

BASE = 10
END = BASE  # the class behind the last digit of a sum
BYTES = 256


class Parity(Task):
    """Whether the number of ones is odd, among 1 to all entries of 1 or -1 (Graves 2016, 3.1).

    The difficulty is the number of entries other than 0.
    """

    difficulty_of = "sequence"

    def __init__(self, config: ParityConfig) -> None:
        self.inputs = config.bits
        self.outputs = Outputs(heads=1, classes=2)

    def sample(self, count: int, generator: torch.Generator) -> SequenceBatch:
        used = uniform(1, self.inputs, (count, 1), generator)
        # The positions of the numbers below k in a random permutation are k random positions.
        order = torch.rand(count, self.inputs, generator=generator).argsort(dim=1)
        signs = uniform(0, 1, (count, self.inputs), generator) * 2 - 1
        vectors = torch.where(order < used, signs, 0)
        odd = (vectors == 1).sum(dim=1) % 2
        always = torch.ones(count, 1, dtype=torch.bool)
        return SequenceBatch(
            vectors[:, None].float(), always, odd[:, None, None], always.clone(), used
        )


class Logic(Task):
    """The result of the gates of each vector [b_0, b_1, one-hot gates] (Graves 2016, 3.2).

    The difficulty is the number of gates of a vector.
    """

    def __init__(self, config: LogicConfig) -> None:
        self.vectors, self.gates = config.vectors, config.gates
        self.inputs = 2 + self.gates * len(NAMES)
        self.outputs = Outputs(heads=1, classes=2)

    def sample(self, count: int, generator: torch.Generator) -> SequenceBatch:
        lengths = uniform(1, self.vectors, (count,), generator)
        time = int(lengths.max())
        mask = within(lengths, time)
        counts = uniform(1, self.gates, (count, time), generator) * mask
        gates = uniform(0, len(NAMES) - 1, (count, time, self.gates), generator)
        bits = uniform(0, 1, (count, 1 + time), generator)
        used = within(counts, self.gates)
        used_gates = one_hot(gates, len(NAMES)) * used[..., None]
        pairs = torch.stack([torch.zeros_like(counts), bits[:, 1:]], dim=-1)
        pairs[:, 0, 0] = bits[:, 0]
        inputs = torch.cat([pairs * mask[..., None], used_gates.flatten(2)], dim=-1)
        targets = self.results(gates, used, bits) * mask
        return SequenceBatch(inputs.float(), mask, targets[..., None], mask.clone(), counts)

    def results(self, gates: Tensor, used: Tensor, bits: Tensor) -> Tensor:
        """Return the last bit of each vector [batch, time].

        Args:
            gates: indices into GATES [batch, time, gates].
            used: whether a vector has the gate [batch, time, gates].
            bits: b_0 of the first vector, then b_1 of each vector [batch, 1 + time].
        """
        older, results = bits[:, 0], []
        for t in range(gates.shape[1]):
            newest = bits[:, 1 + t]
            for i in range(self.gates):
                column = 2 * (1 - newest) + (1 - older)  # TT, TF, FT, FF for P = newest
                result = TRUTH[gates[:, t, i], column]
                applied = used[:, t, i]
                older = torch.where(applied, newest, older)
                newest = torch.where(applied, result, newest)
            results.append(newest)
            older = newest  # the next vector's b_0
        return torch.stack(results, dim=1)


class Addition(Task):
    """Running sums, from the second number on (Graves 2016, section 3.3).

    Numbers begin with the highest digit (our copy of the paper does not say which comes first).
    They may have leading zeros, sums have none (0 is one digit). Heads behind the last digit of
    a sum have the class END. A sequence of one number has no target, so it is always correct. The
    difficulty is the number of digits.
    """

    def __init__(self, config: AdditionConfig) -> None:
        self.numbers, self.digits = config.numbers, config.digits
        self.inputs = BASE * self.digits
        largest = self.numbers * (BASE**self.digits - 1)
        self.outputs = Outputs(heads=len(str(largest)), classes=BASE + 1)

    def sample(self, count: int, generator: torch.Generator) -> SequenceBatch:
        lengths = uniform(1, self.numbers, (count,), generator)
        time = int(lengths.max())
        mask = within(lengths, time)
        widths = uniform(1, self.digits, (count, time), generator) * mask
        digits = uniform(0, BASE - 1, (count, time, self.digits), generator)
        used = within(widths, self.digits)
        inputs = one_hot(digits, BASE) * used[..., None]
        sums = self.values(digits, widths, used).cumsum(dim=1)
        has_target = mask.clone()
        has_target[:, 0] = False
        targets = self.written(sums) * has_target[..., None]
        return SequenceBatch(inputs.flatten(2).float(), mask, targets, has_target, widths)

    def described(self, inputs: Tensor, targets: Tensor) -> tuple[str, str]:
        digits = inputs.view(-1, BASE).nonzero()[:, 1]
        return _spaced(digits), _spaced(targets[targets != END])

    def values(self, digits: Tensor, widths: Tensor, used: Tensor) -> Tensor:
        """Return the numbers [batch, time], 0 on padding."""
        place = torch.arange(self.digits).expand_as(digits)
        power = widths[..., None] - 1 - place
        return torch.where(used, digits * BASE ** power.clamp(min=0), 0).sum(dim=-1)

    def written(self, sums: Tensor) -> Tensor:
        """Return the class of each head [batch, time, heads] for sums [batch, time]."""
        heads = self.outputs.heads
        powers = BASE ** torch.arange(heads)
        width = (sums[..., None] >= powers).sum(dim=-1).clamp(min=1)
        place = torch.arange(heads).expand(*sums.shape, heads)
        power = width[..., None] - 1 - place
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
        longest = int(lengths.max())
        numbers = torch.randn(count, longest, generator=generator)
        real = within(lengths, longest)
        order = numbers.masked_fill(~real, float("inf")).argsort(dim=1, stable=True)
        inputs = torch.zeros(count, 2 * longest, 2)
        inputs[:, :longest, 0] = numbers * real
        inputs[torch.arange(count), lengths - 1, 1] = 1.0
        mask = within(2 * lengths, 2 * longest)
        has_target = mask & ~within(lengths, 2 * longest)
        targets = torch.zeros(count, 2 * longest, dtype=torch.long)
        targets[has_target] = order[real]  # both row by row, `lengths` entries in each
        difficulty = lengths[:, None] * mask
        return SequenceBatch(inputs, mask, targets[..., None], has_target, difficulty)

    def described(self, inputs: Tensor, targets: Tensor) -> tuple[str, str]:
        return f"{inputs[0]:.2f}", _spaced(targets)


def _spaced(numbers: Tensor) -> str:
    return " ".join(map(str, numbers.tolist()))


DRAWN_TASKS: dict[type, Any] = {
    ParityConfig: Parity,
    LogicConfig: Logic,
    AdditionConfig: Addition,
    SortConfig: Sort,
}


def read_bytes(path: Path) -> Tensor:
    """Memory-map a file as uint8 [bytes], shared by all workers.

    Raises:
        DataError: the file is missing or empty.
    """
    size = path.stat().st_size if path.is_file() else 0
    if not size:
        raise DataError(f"{path}: no such file, or empty; characters need a text, such as enwik8")
    return torch.from_file(str(path), shared=False, size=size, dtype=torch.uint8)


class Characters(Task):
    """Random windows of a text; the target at each byte is the next byte. No difficulty (0).

    Dev windows come from the last held_out_bytes, or from the training text if it is 0 (Graves).

    Args:
        text: uint8 [bytes].
        source: name of the text in messages.

    Raises:
        DataError: a part is shorter than a window and the byte after it.
    """

    accuracy_unit = "target"  # hardly any window is correct as a whole

    def __init__(self, config: CharactersConfig, text: Tensor, source: str) -> None:
        self.window = config.window
        self.inputs = BYTES
        self.outputs = Outputs(heads=1, classes=BYTES)
        cut = len(text) - config.held_out_bytes
        self.trained = text[: max(cut, 0)]
        self.held_out = text[cut:] if config.held_out_bytes else text
        needed = self.window + 1
        for part, use, remedy in (
            (self.trained, "left to train on", "give a longer text or hold out less"),
            (self.held_out, "held out", "hold out more, or none (0)"),
        ):
            if len(part) < needed:
                reason = f"but a window and the byte after it are {needed}; {remedy}"
                raise DataError(f"{source}: {len(part)} bytes are {use}, {reason}")

    def sample(self, count: int, generator: torch.Generator) -> SequenceBatch:
        return self.windows(self.trained, count, generator)

    def sample_dev(self, count: int, generator: torch.Generator) -> SequenceBatch:
        return self.windows(self.held_out, count, generator)

    def windows(self, text: Tensor, count: int, generator: torch.Generator) -> SequenceBatch:
        starts = uniform(0, len(text) - self.window - 1, (count, 1), generator)
        return self.batch(text[starts + torch.arange(self.window + 1)])

    def batch(self, windows: Tensor) -> SequenceBatch:
        """Build a batch of windows and the byte after each [batch, window + 1]."""
        codes = windows.long()
        inputs = one_hot(codes[:, :-1], BYTES).float()
        mask = torch.ones(inputs.shape[:2], dtype=torch.bool)
        return SequenceBatch(inputs, mask, codes[:, 1:, None], mask.clone(), mask.long() * 0)
