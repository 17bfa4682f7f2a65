"""Parity of a vector that is seen all at once (Graves 2016 section 3.1)."""

import torch

from actmodels.sequences.batch import SequenceBatch, uniform
from actmodels.sequences.config import ParityConfig
from actmodels.sequences.outputs import Outputs
from actmodels.sequences.task import Task


class Parity(Task):
    """k of the entries, k from 1 to all of them, are 1 or -1; is the number of ones odd?"""

    difficulty = "entries that are not 0"
    difficulty_of = "sequence"

    def __init__(self, config: ParityConfig) -> None:
        self.inputs = config.bits
        self.outputs = Outputs(heads=1, classes=2)

    def sample(self, count: int, generator: torch.Generator) -> SequenceBatch:
        """Sequences of length 1."""
        used = uniform(1, self.inputs, (count, 1), generator)
        # The places of a random permutation's numbers below k are a random choice of k places.
        order = torch.rand(count, self.inputs, generator=generator).argsort(dim=1)
        signs = uniform(0, 1, (count, self.inputs), generator) * 2 - 1
        vectors = torch.where(order < used, signs, 0)
        odd = (vectors == 1).sum(dim=1) % 2
        always = torch.ones(count, 1, dtype=torch.bool)
        return SequenceBatch(
            vectors[:, None].float(), always, odd[:, None, None], always.clone(), used
        )

    def describe(self, batch: SequenceBatch, row: int) -> str:
        """Such as `+-.+ odd`."""
        marks = {1: "+", -1: "-", 0: "."}
        entries = "".join(marks[int(value)] for value in batch.inputs[row, 0])
        return f"{entries} {'odd' if batch.targets[row, 0, 0] else 'even'}"
