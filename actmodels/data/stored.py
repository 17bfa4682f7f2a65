"""Files of named tensors."""

import io
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, ClassVar, Self

import torch

from actmodels.errors import ArtifactError
from actmodels.files import read_known, replacing

UNREADABLE = (RuntimeError, TypeError, EOFError, ValueError, LookupError, UnpicklingError)


def save_stored(content: dict[str, Any], path: Path) -> None:
    """Write named tensors atomically; equal content gives equal bytes."""
    buffer = io.BytesIO()  # given a path, torch stores the file name
    torch.save(content, buffer)
    with replacing(path) as temporary:
        temporary.write_bytes(buffer.getbuffer())


class StoredTensors:
    """Base class of dataclasses of tensors in one file."""

    what: ClassVar[str]  # content, in messages
    stage: ClassVar[str] = "tensors"  # stage that writes the file, in messages

    def save(self, path: Path) -> None:
        """Write atomically; equal content gives equal bytes."""
        save_stored({n: t for n, t in vars(self).items() if t is not None}, path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a file; ArtifactError if it is missing, changed, or has other content."""
        if not path.is_file():
            raise ArtifactError(
                f"{path} is missing; run the stage that writes it: dvc repro {cls.stage}"
            )
        try:
            return cls(**torch.load(io.BytesIO(read_known(path)), weights_only=True))
        except UNREADABLE as error:
            raise ArtifactError(
                f"{path} is not {cls.what} ({type(error).__name__}); "
                f"run the stage that writes it again: dvc repro -f {cls.stage}"
            ) from error
