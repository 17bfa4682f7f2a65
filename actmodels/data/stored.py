"""Files of tensors: written whole, the same content as the same bytes, read by memory map."""

import io
from pathlib import Path
from typing import Any, TypeVar

import torch

from actmodels.errors import ArtefactError
from actmodels.files import replacing

Stored = TypeVar("Stored")


def save_stored(content: dict[str, Any], path: Path) -> None:
    """Write named tensors atomically; the same content always gives the same bytes."""
    buffer = io.BytesIO()  # a path would put its own name into the file
    torch.save(content, buffer)
    with replacing(path) as temporary:
        temporary.write_bytes(buffer.getbuffer())


def load_stored(cls: type[Stored], path: Path, what: str, stage: str = "tensors") -> Stored:
    """Make a `cls` of the named tensors in a file, without reading them yet.

    Args:
        what: what the file should hold, for the message. stage: which makes it, likewise.

    Raises:
        ArtefactError: the file is missing or holds something else.
    """
    if not path.is_file():
        raise ArtefactError(f"{path} is missing; run the stage that makes it: dvc repro {stage}")
    try:
        return cls(**torch.load(path, mmap=True, weights_only=True))
    except (RuntimeError, TypeError, EOFError, ValueError) as error:
        raise ArtefactError(
            f"{path} is not {what} ({type(error).__name__}); "
            f"run the stage that makes it again: dvc repro -f {stage}"
        ) from error
