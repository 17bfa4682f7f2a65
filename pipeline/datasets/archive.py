"""Stream members of zip and tar archives; nothing is extracted to disk."""

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
from typing import Any, BinaryIO

from tqdm import tqdm

from actmodels.errors import DataError
from pipeline.datasets.text_lines import numbered_lines

BUFFER_BYTES = 1 << 20
UNREADABLE = (  # RuntimeError: encryption or an unknown compression
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError),
    *(EOFError, RuntimeError, OSError),
)
TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
BAR_LINES = 4096  # lines per update of the progress bar, which is slower than reading a line


@contextmanager
def open_member(archive: Path, member: str, key: str) -> Iterator[tuple[BinaryIO, int]]:
    """Open a member for reading, with its size in bytes; zip members are verified by their CRC.

    Args:
        key: section of params.yaml that configures the file, for messages.

    Raises:
        DataError: the archive is corrupt, or the member is missing, encrypted or unsupported. The
            block raises it too, while it reads.
    """
    opened: Any  # zipfile and tarfile share no interface
    try:
        if archive.name.endswith(TAR):
            with tarfile.open(archive) as opened:
                # regular files only: a link may point outside the archive
                files = {info.name: info for info in opened if info.isfile()}
                with opened.extractfile(_find(archive, member, files)) as stream:
                    yield stream, files[member].size
        else:
            with zipfile.ZipFile(archive) as opened:
                infos = {info.filename: info for info in opened.infolist()}
                if opened.namelist().count(member) > 1:
                    raise DataError(f"{archive} has {member} twice; expected it once")
                # ZipExtFile.readline is slow; buffered reads are fast
                raw = opened.open(_find(archive, member, infos))
                with io.BufferedReader(raw, BUFFER_BYTES) as stream:
                    yield stream, infos[member].file_size
    except UNREADABLE as error:
        if isinstance(error, OSError) and error.errno not in (errno.EINVAL, None):
            raise  # an error of the disk, not of the archive
        # tarfile lists each compression on a line
        reason = str(error).partition("\n")[0].rstrip(":") or "the archive is truncated"
        raise DataError(
            f"{archive}: cannot read {member} ({reason}); the file has the expected "
            f"SHA-256, so correct {key}.urls and {key}.sha256 in params.yaml"
        ) from error


def _find(archive: Path, member: str, files: dict[str, Any]) -> Any:
    if member in files:
        return files[member]
    base = PurePosixPath(member).name
    near = [name for name in files if PurePosixPath(name).name == base]
    near = (near or get_close_matches(member, files, cutoff=0.3) or [*files])[:3]
    listed = f"the nearest are {', '.join(near)}" if near else "it is empty"
    raise DataError(f"{archive} has no member {member} ({listed}); correct the name in params.yaml")


def member_lines(archive: Path, member: str, key: str, label: str) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, line with its newline) under a progress bar over the bytes."""
    with (
        open_member(archive, member, key) as (stream, size),
        tqdm(total=size, desc=label, unit="B", unit_scale=True) as bar,
    ):
        for number, line in numbered_lines(stream, f"{member} in {archive}"):
            yield number, line
            if number % BAR_LINES == 0:
                bar.update(stream.tell() - bar.n)
        bar.update(size - bar.n)
