"""Atomic files, and files that carry the digest of their content.

The last line of a sealed file is `sha256` and 64 hexadecimal digits, of all bytes before it.
"""

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from actmodels.errors import ArtifactError

MARK = b"\nsha256 "
known: dict[Path, str] = {}  # MD5 of the inputs of this process's stage, by absolute path
SEAL = len(MARK) + 64 + 1  # bytes of that line, its line break included


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path, renamed to `path` if the block succeeds; an OSError names a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except OSError as error:
        if error.errno and not error.filename:
            error.filename = str(path)  # a full disk does not say what was written
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a small text file atomically (UTF-8)."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


class DamagedError(ArtifactError):
    """A file does not hold what was written into it."""


def add_checksum(content: bytes | memoryview) -> bytes:
    """What a sealed file holds: the content, then its digest."""
    return b"".join([content, MARK, hashlib.sha256(content).hexdigest().encode(), b"\n"])


def verify_checksum(stored: bytes, where: object) -> bytes:
    """The content of a sealed file; DamagedError, naming `where`, if the digest does not match."""
    content = stored[:-SEAL]
    if stored != add_checksum(content):
        raise DamagedError(f"{where} is damaged: its content does not have the digest at its end")
    return content


def regular(path: Path) -> Path:
    """Return the path; OSError if it is a named pipe or a device, whose opening could block."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return path


def file_digest(path: Path) -> str:
    """SHA-256 of a file: 64 hexadecimal digits."""
    with regular(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_known(path: Path) -> bytes:
    """Read a file once; ArtifactError if it is not the file with which the stage began."""
    content = path.read_bytes()
    if path in known and hashlib.md5(content).hexdigest() != known[path]:
        raise ArtifactError(
            f"{path} changed after this stage began; run dvc repro again (finished trials are kept)"
        )
    return content
