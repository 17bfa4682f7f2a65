"""Reading the tensors that the data stages wrote, by memory map."""

from pathlib import Path
from typing import TypeVar

import torch

from actmodels.errors import ArtefactError

Stored = TypeVar("Stored")


def load_stored(cls: type[Stored], path: Path, what: str) -> Stored:
    """Make a `cls` of the named tensors in a file, without reading them yet.

    Args:
        what: what the file should hold, for the message.

    Raises:
        ArtefactError: the file is missing or holds something else.
    """
    if not path.is_file():
        raise ArtefactError(f"{path} is missing; run the stage that makes it: dvc repro tensors")
    try:
        return cls(**torch.load(path, mmap=True, weights_only=True))
    except (RuntimeError, TypeError, EOFError, ValueError) as error:
        raise ArtefactError(
            f"{path} is not {what} ({type(error).__name__}); "
            "run the stage that makes it again: dvc repro -f tensors"
        ) from error
