"""From a task's settings to the task."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import Tensor

from actmodels.sequences.bits import Logic, Parity
from actmodels.sequences.characters import Characters, read_bytes
from actmodels.sequences.config import (
    AdditionConfig,
    CharactersConfig,
    LogicConfig,
    ParityConfig,
    SequenceTrialConfig,
    SortConfig,
    TaskConfig,
)
from actmodels.sequences.numbers import Addition, Sort
from actmodels.sequences.task import Task

DRAWN: dict[type[TaskConfig], Callable[[Any], Task]] = {
    ParityConfig: Parity,
    LogicConfig: Logic,
    AdditionConfig: Addition,
    SortConfig: Sort,
}


def build_task(config: TaskConfig, text: Tensor | None = None, source: str = "text") -> Task:
    """Make the task that a configuration asks for.

    Args:
        text: the bytes that characters are drawn from; the other tasks need none.
        source: where the text comes from, for messages.
    """
    if isinstance(config, CharactersConfig):
        assert text is not None
        return Characters(config, text, source)
    return DRAWN[type(config)](config)


def trial_text(
    config: SequenceTrialConfig, folder: Path, text: Path | None = None
) -> Tensor | None:
    """What a trial is trained on, where it is not drawn; see actmodels.kinds."""
    if not isinstance(config.task, CharactersConfig):
        return None
    assert text is not None
    return read_bytes(text)
