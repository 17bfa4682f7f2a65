"""Stream members of zip and tar archives, and text files; nothing is extracted to disk.

The content decides what a file is, not its name.
"""

import bz2
import errno
import gzip
import io
import lzma
import re
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
ZIP = (b"PK\3\4", b"PK\5\6")
COMPRESSIONS: dict[bytes, Any] = {
    rb"\x1f\x8b\x08": gzip.open,
    rb"BZh[1-9](1AY&SY|\x17rE8P\x90)": bz2.open,
    rb"\xfd7zXZ\0": lzma.open,
}
OF_MACOS = re.compile(r"(.*/)?(__MACOSX/.*|\._[^/]*|\.DS_Store)")  # in archives that it makes
BAR_LINES = 4096  # lines per update of the progress bar, which is slower than reading a line


@contextmanager
def open_member(
    archive: Path, member: str | None, key: str
) -> Iterator[tuple[BinaryIO, int | None]]:
    """Open a member for reading, with its size in bytes; zip members are verified by their CRC.

    Args:
        member: None for a text file, also compressed (size None), or for the only file of an
            archive.
        key: section of params.yaml that configures the file, for messages.

    Raises:
        DataError: the archive is corrupt, or the member is missing, encrypted or unsupported. The
            block raises it too, while it reads.
    """
    opened: Any  # zipfile and tarfile share no interface
    try:
        with archive.open("rb") as file:
            if file.read(4) in ZIP:
                with zipfile.ZipFile(archive) as opened:
                    infos = {info.filename: info for info in opened.infolist() if not info.is_dir()}
                    if opened.namelist().count(member) > 1:
                        raise DataError(f"{archive} has {member} twice; expected it once")
                    # ZipExtFile.readline is slow; buffered reads are fast
                    info = _find(archive, member, infos, key)
                    with io.BufferedReader(opened.open(info), BUFFER_BYTES) as stream:
                        yield stream, info.file_size
            elif tarfile.is_tarfile(archive):
                with tarfile.open(archive) as opened:
                    # regular files only: a link may point outside the archive
                    files = {info.name: info for info in opened if info.isfile()}
                    info = _find(archive, member, files, key)
                    with opened.extractfile(info) as stream:
                        yield stream, info.size
            elif member is None:
                file.seek(0)
                opened = decompressed(file)
                yield opened, archive.stat().st_size if opened is file else None
            else:
                advice = f"correct {key}, or name no member for a text file"
                raise DataError(f"{archive} is not a zip or tar archive with {member}; {advice}")
    except UNREADABLE as error:
        if isinstance(error, OSError) and error.errno not in (errno.EINVAL, None):
            raise  # an error of the disk, not of the archive
        # tarfile lists each compression on a line
        reason = str(error).partition("\n")[0].rstrip(":") or "the archive is truncated"
        raise DataError(
            f"{archive}: cannot read {member or 'it'} ({reason}); it is corrupt or incomplete, so "
            f"replace it, or correct {key} in params.yaml"
        ) from error


def decompressed(stream: Any) -> Any:
    """Return a stream without its compressions: gzip, bzip2 and xz, also one inside another."""
    while True:
        head = stream.peek(10)
        openers = (opener for magic, opener in COMPRESSIONS.items() if re.match(magic, head))
        if (opener := next(openers, None)) is None:
            return stream
        stream = opener(stream)


def named(archive: Path, member: str | None) -> str:
    """Return the name of a member for messages."""
    return str(archive) if member is None else f"{member} in {archive}"


def _find(archive: Path, member: str | None, files: dict[str, Any], key: str) -> Any:
    if member in files:
        return files[member]
    names = [name for name in files if not OF_MACOS.fullmatch(name)]
    if member is None:
        if len(names) == 1:
            return files[names[0]]
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        problem = f"has {len(names)} files ({', '.join(names[:10])}{more})"
        raise DataError(f"{archive} {problem}; name one in {key}.member in params.yaml")
    base = PurePosixPath(member).name
    near = [name for name in names if PurePosixPath(name).name == base]
    near = (near or get_close_matches(member, names, cutoff=0.3) or names)[:3]
    listed = f"the nearest are {', '.join(near)}" if near else "it is empty"
    raise DataError(f"{archive} has no member {member} ({listed}); correct the name in params.yaml")


def member_lines(
    archive: Path, member: str | None, key: str, label: str
) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, line with its newline) under a progress bar over the bytes."""
    with (
        open_member(archive, member, key) as (stream, size),
        tqdm(total=size, desc=label, unit="B", unit_scale=True) as bar,
    ):
        for number, line in numbered_lines(stream, named(archive, member)):
            yield number, line
            if number % BAR_LINES == 0:
                bar.update(stream.tell() - bar.n)
        bar.update(stream.tell() - bar.n)
