"""Read a member of a zip or tar archive as a stream.

Nothing is ever extracted: bytes go from the archive to the reader through memory, so no name
inside an archive can reach a path on disk, whatever it says.
"""

import errno
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from tqdm import tqdm

from actmodels.errors import DataError
from pipeline.sources.lines import numbered_lines

BUFFER_BYTES = 1 << 20
DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError),
    *(EOFError, NotImplementedError),
)
TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
BAR_LINES = 4096  # between two updates of the bar, which cost more than a line


@contextmanager
def open_member(archive: Path, member: str, key: str) -> Iterator[BinaryIO]:
    """Open one member for reading; a zip's checksum is verified when its end is read.

    Args:
        key: the section of params.yaml whose file this is, for messages.

    Raises:
        DataError: no archive of its kind or a truncated one, no such member, a damaged, encrypted
            or unsupported member; also while the block reads.
    """
    with _opened(archive, member, key) as (stream, _):
        yield stream


def member_lines(archive: Path, member: str, key: str, label: str) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, line with its newline) under a progress bar over the bytes.

    Raises:
        DataError: as `open_member` does; a line has no end.
    """
    with (
        _opened(archive, member, key) as (stream, size),
        tqdm(total=size, desc=label, unit="B", unit_scale=True) as bar,
    ):
        for number, line in numbered_lines(stream, f"{member} in {archive}"):
            yield number, line
            if number % BAR_LINES == 0:
                bar.update(stream.tell() - bar.n)
        bar.update(size - bar.n)


@contextmanager
def _opened(archive: Path, member: str, key: str) -> Iterator[tuple[BinaryIO, int]]:
    """The member as a buffered stream, with its size in bytes."""
    opened = _in_tar if archive.name.endswith(TAR) else _in_zip
    try:
        with opened(archive, member) as found:
            yield found
    except (*DAMAGED, OSError) as error:
        wrong_address = isinstance(error, OSError) and error.errno in (errno.EINVAL, None)
        if isinstance(error, OSError) and not wrong_address:
            raise  # not the archive's own: the disk's
        raise DataError(
            f"{archive}: cannot read {member} ({_reason(error)}); the file has the expected "
            f"SHA-256, so correct {key}.urls and {key}.sha256 in params.yaml"
        ) from error


@contextmanager
def _in_zip(archive: Path, member: str) -> Iterator[tuple[BinaryIO, int]]:
    with zipfile.ZipFile(archive) as opened:
        if member not in opened.namelist():
            raise DataError(_no_member(archive, member, opened.namelist()))
        if opened.namelist().count(member) > 1:
            raise DataError(f"{archive} holds {member} twice; expected an archive with one of it")
        info = opened.getinfo(member)
        if info.flag_bits & 1:
            raise DataError(
                f"{archive}: {member} is encrypted; an archive without a password is needed"
            )
        # zipfile's own readline is slow; its reads of a whole buffer are not.
        with io.BufferedReader(opened.open(info), BUFFER_BYTES) as stream:  # type: ignore[type-var]
            yield stream, info.file_size


@contextmanager
def _in_tar(archive: Path, member: str) -> Iterator[tuple[BinaryIO, int]]:
    with tarfile.open(archive) as opened:
        named = [found for found in opened if found.name == member]
        info = next((found for found in named if found.isfile()), None)
        link = next((found for found in named if found.issym() or found.islnk()), None)
        if link and not info:  # which may lead anywhere
            raise DataError(
                f"{archive}: {member} is a link to {link.linkname}, not a file; name a file of the "
                "archive in params.yaml"
            )
        stream = opened.extractfile(info) if info else None
        if info is None or stream is None:
            raise DataError(_no_member(archive, member, opened.getnames()))
        with stream:
            yield stream, info.size  # type: ignore[misc]


def _reason(error: Exception) -> str:
    if isinstance(error, NotImplementedError):
        return f"unsupported: {error}"
    said = str(error).partition("\n")[0].rstrip(":")  # tarfile tells of each kind it tried
    return said or "the archive is truncated"


def _no_member(archive: Path, member: str, names: list[str]) -> str:
    base = PurePosixPath(member).name
    near = [name for name in names if PurePosixPath(name).name == base]
    near = (near or get_close_matches(member, names, cutoff=0.3) or names)[:3]
    listed = f"the nearest are {', '.join(near)}" if near else "it is empty"
    return f"{archive} has no member {member} ({listed}); correct the name in params.yaml"
