"""Read a member of a zip or tar archive as a stream.

Nothing is ever extracted: no name inside an archive can reach a path on disk.
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
from typing import Any, BinaryIO

from tqdm import tqdm

from actmodels.errors import DataError
from pipeline.datasets.text_lines import numbered_lines

BUFFER_BYTES = 1 << 20
DAMAGED = (  # RuntimeError: encrypted, or of an unknown compression
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError),
    *(EOFError, RuntimeError, OSError),
)
TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
BAR_LINES = 4096  # between two updates of the bar, which cost more than a line


@contextmanager
def open_member(archive: Path, member: str, key: str) -> Iterator[tuple[BinaryIO, int]]:
    """Open one member for reading, with its size in bytes; the end of a zip's checks its checksum.

    Args:
        key: the section of params.yaml whose file this is, for messages.

    Raises:
        DataError: no archive of its kind or a truncated one, no such member, a damaged, encrypted
            or unsupported member; also while the block reads.
    """
    opened: Any  # the two libraries name the same things differently
    try:
        if archive.name.endswith(TAR):
            with tarfile.open(archive) as opened:
                # no links, which may lead anywhere
                files = {info.name: info for info in opened if info.isfile()}
                with opened.extractfile(_find(archive, member, files)) as stream:
                    yield stream, files[member].size
        else:
            with zipfile.ZipFile(archive) as opened:
                infos = {info.filename: info for info in opened.infolist()}
                if opened.namelist().count(member) > 1:
                    raise DataError(f"{archive} has {member} twice; expected it once")
                # zipfile's own readline is slow; its reads of a whole buffer are not.
                raw = opened.open(_find(archive, member, infos))
                with io.BufferedReader(raw, BUFFER_BYTES) as stream:
                    yield stream, infos[member].file_size
    except DAMAGED as error:
        if isinstance(error, OSError) and error.errno not in (errno.EINVAL, None):
            raise  # the disk's error, not the archive's
        # tarfile tells of each compression it tried, a line each
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
