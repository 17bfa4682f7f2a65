"""Tasks on bits: parity of a vector, and sequences of binary gates.

Two details of logic are not in our copy of the paper; our readings:
- Gate i of a vector computes b_{i+1} = T_i(P = b_i, Q = b_{i-1}).
- From the second vector on, b_1 is random and b_0 is the previous target, 0 in the input.
"""

import torch
from torch import Tensor

from actmodels.sequences.config import LogicConfig, ParityConfig
from actmodels.sequences.task import Outputs, SequenceBatch, Task, uniform, within

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
        return self.batch(
            lengths,
            uniform(1, self.gates, (count, time), generator),
            uniform(0, len(NAMES) - 1, (count, time, self.gates), generator),
            uniform(0, 1, (count, 1 + time), generator),
        )

    def batch(self, lengths: Tensor, counts: Tensor, gates: Tensor, bits: Tensor) -> SequenceBatch:
        """Build a batch from drawn values.

        Args:
            lengths: number of vectors [batch].
            counts: number of gates [batch, time].
            gates: indices into GATES, valid up to `counts` [batch, time, gates].
            bits: b_0 of the first vector, then b_1 of each vector [batch, 1 + time].
        """
        time = counts.shape[1]
        mask = within(lengths, time)
        counts = counts * mask
        used = within(counts, self.gates)  # [batch, time, gates]
        one_hot = torch.nn.functional.one_hot(gates, len(NAMES)) * used[..., None]
        pairs = torch.stack([torch.zeros_like(counts), bits[:, 1:]], dim=-1)
        pairs[:, 0, 0] = bits[:, 0]
        inputs = torch.cat([pairs * mask[..., None], one_hot.flatten(2)], dim=-1)
        targets = self.results(gates, used, bits) * mask
        return SequenceBatch(inputs.float(), mask, targets[..., None], mask.clone(), counts)

    def results(self, gates: Tensor, used: Tensor, bits: Tensor) -> Tensor:
        """Return the last bit of each vector [batch, time]; see `batch` for shapes."""
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
