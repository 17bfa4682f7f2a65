"""From a task's settings to the task, and to a network that trains on it."""

from pathlib import Path

from torch import Tensor

from actmodels.sequences.bits import Logic, Parity
from actmodels.sequences.characters import Characters, read_bytes
from actmodels.sequences.config import (
    AdditionConfig,
    CharactersConfig,
    LogicConfig,
    ParityConfig,
    SequenceTrialConfig,
    TaskConfig,
)
from actmodels.sequences.numbers import Addition, Sort
from actmodels.sequences.task import Task
from actmodels.sequences.training import SequenceTraining


def build_task(config: TaskConfig, text: Tensor | None = None, source: str = "text") -> Task:
    """Make the task that a configuration asks for.

    Args:
        text: the bytes that characters are drawn from; the other tasks need none.
        source: where the text comes from, for messages.
    """
    if isinstance(config, ParityConfig):
        return Parity(config)
    if isinstance(config, LogicConfig):
        return Logic(config)
    if isinstance(config, AdditionConfig):
        return Addition(config)
    if isinstance(config, CharactersConfig):
        if text is None:
            raise TypeError("characters need a text")
        return Characters(config, text, source)
    return Sort(config)


def trial_text(
    config: SequenceTrialConfig, folder: Path, text: Path | None = None
) -> Tensor | None:
    """What a trial is trained on, where it is not drawn; see actmodels.kinds."""
    if not isinstance(config.task, CharactersConfig):
        return None
    assert text is not None
    return read_bytes(text)


def sequence_training(
    config: SequenceTrialConfig, text: Tensor | None, device: str = "cpu"
) -> SequenceTraining:
    """A trial at its beginning."""
    return SequenceTraining(config, build_task(config.task, text), device)
