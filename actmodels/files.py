"""Atomic writes, and files with a checksum.

The last line of a file with a checksum is `sha256` and 64 hexadecimal digits, of all bytes before.
"""

import errno
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from actmodels.errors import ArtifactError

CHECKSUM_PREFIX = b"\nsha256 "
CHECKSUM_SIZE = len(CHECKSUM_PREFIX) + 64 + 1  # bytes of the last line with its line breaks
known: dict[Path, str] = {}  # MD5 of the stage's inputs when it began, by absolute path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path, renamed to `path` if the block succeeds; OSErrors name a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except OSError as error:
        if error.errno and not error.filename:
            error.filename = str(path)  # e.g. of a full disk
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a small text file atomically (UTF-8)."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


class CorruptError(ArtifactError):
    """A file whose content does not match its checksum."""


def add_checksum(content: bytes | memoryview) -> bytes:
    """Return the content with its checksum appended."""
    return b"".join([content, CHECKSUM_PREFIX, hashlib.sha256(content).hexdigest().encode(), b"\n"])


def verify_checksum(stored: bytes, where: object) -> bytes:
    """Return the content without its checksum; CorruptError, naming `where`, on a mismatch."""
    content = stored[:-CHECKSUM_SIZE]
    if stored != add_checksum(content):
        raise CorruptError(f"{where} is corrupt: its content does not have the digest at its end")
    return content


def regular(path: Path) -> Path:
    """Return the path; OSError for a named pipe or a device, which could block."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return path


def file_digest(path: Path, algorithm: str = "sha256") -> str:
    """Return the digest of a file in hexadecimal."""
    with regular(path).open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def files_digest(folder: Path, names: Iterable[str]) -> str:
    """Return SHA-256 over the names and contents of files in a folder, in this order."""
    digest = hashlib.sha256()
    for name in names:
        digest.update(f"{name} {file_digest(folder / name)}\n".encode())
    return digest.hexdigest()


def read_known(path: Path) -> bytes:
    """Read a file; ArtifactError if a stage's input has changed since the stage began."""
    content = path.read_bytes()
    if path in known and hashlib.md5(content).hexdigest() != known[path]:
        raise ArtifactError(
            f"{path} changed after this stage began; run dvc repro again (finished trials are kept)"
        )
    return content
