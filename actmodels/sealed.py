"""Files that carry the digest of what they hold, so that what was damaged is never believed.

The last line of a sealed file is `sha256` and 64 hexadecimal digits, of all bytes before that line.
"""

import hashlib
from pathlib import Path

from actmodels.errors import ArtefactError
from actmodels.files import replacing

MARK = b"\nsha256 "
SEAL = len(MARK) + 64 + 1  # bytes of that line, its line break included


class DamagedError(ArtefactError):
    """A file does not hold what was written into it."""


def write_sealed(path: Path, content: bytes | memoryview) -> None:
    """Write a file with its seal; it appears whole or not at all."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.write(MARK + hashlib.sha256(content).hexdigest().encode() + b"\n")


def read_sealed(path: Path) -> bytes:
    """What a sealed file holds.

    Raises:
        DamagedError: something else than was written, or no seal. OSError: it cannot be read.
    """
    stored = path.read_bytes()
    content, seal = stored[:-SEAL], stored[-SEAL:]
    if seal != MARK + hashlib.sha256(content).hexdigest().encode() + b"\n":
        raise DamagedError(f"{path} is damaged: its content does not have the digest at its end")
    return content


def file_digest(path: Path) -> str:
    """SHA-256 of a file: 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def set_aside(path: Path) -> Path:
    """Rename a damaged file to *.damaged, in place of an earlier one; gives its new path."""
    return path.replace(path.with_name(f"{path.name}.damaged"))
