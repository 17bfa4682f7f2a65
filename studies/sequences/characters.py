"""Prediction of the next byte of a text (Graves 2016, section 3.5)."""

from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from actmodels.errors import DataError
from studies.sequences.config import CharactersConfig
from studies.sequences.task import Outputs, SequenceBatch, Task, uniform

BYTES = 256


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
