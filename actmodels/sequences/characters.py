"""Predicting the next byte of a text (Graves 2016 section 3.5)."""

from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from actmodels.errors import DataError
from actmodels.sequences.config import CharactersConfig
from actmodels.sequences.task import Outputs, SequenceBatch, Task, uniform

BYTES = 256


def read_bytes(path: Path) -> Tensor:
    """Map a file's bytes [bytes] as uint8, read once for all workers; DataError if none."""
    size = path.stat().st_size if path.is_file() else 0
    if not size:
        raise DataError(f"{path}: no such file, or empty; characters need a text, such as enwik8")
    return torch.from_file(str(path), shared=False, size=size, dtype=torch.uint8)


class Characters(Task):
    """Windows at random places of a text [bytes], uint8; at each byte: which one comes next?

    Dev alone reads the last held_out_bytes; without any, dev reads the training text, as in Graves.
    Raises DataError, which names `source`: a part is shorter than a window and the byte after it.
    """

    difficulty = "not defined: 0"
    difficulty_of = "vector"
    marked = "target"  # a window is hardly ever right as a whole

    def __init__(self, config: CharactersConfig, text: Tensor, source: str) -> None:
        self.window = config.window
        self.inputs = BYTES
        self.outputs = Outputs(heads=1, classes=BYTES)
        cut = len(text) - config.held_out_bytes
        self.trained = text[: max(cut, 0)]
        self.held_out = text[cut:] if config.held_out_bytes else text
        least = self.window + 1
        for part, what, remedy in (
            (self.trained, "left to train on", "give a longer text or hold out less"),
            (self.held_out, "held out", "hold out more, or none (0)"),
        ):
            if len(part) < least:
                missing = f"but a window and the byte after it are {least}; {remedy}"
                raise DataError(f"{source}: {len(part)} bytes are {what}, {missing}")

    def sample(self, count: int, generator: torch.Generator) -> SequenceBatch:
        return self.windows(self.trained, count, generator)

    def sample_dev(self, count: int, generator: torch.Generator) -> SequenceBatch:
        return self.windows(self.held_out, count, generator)

    def windows(self, text: Tensor, count: int, generator: torch.Generator) -> SequenceBatch:
        starts = uniform(0, len(text) - self.window - 1, (count, 1), generator)
        return self.batch(text[starts + torch.arange(self.window + 1)])

    def batch(self, windows: Tensor) -> SequenceBatch:
        """Inputs and targets of windows with the byte behind them [batch, window + 1]."""
        codes = windows.long()
        inputs = one_hot(codes[:, :-1], BYTES).float()
        everywhere = torch.ones(inputs.shape[:2], dtype=torch.bool)
        nothing = torch.zeros(inputs.shape[:2], dtype=torch.long)
        return SequenceBatch(inputs, everywhere, codes[:, 1:, None], everywhere.clone(), nothing)
