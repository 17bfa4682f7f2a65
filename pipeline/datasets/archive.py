"""Stream members of zip and tar archives, and text files; nothing is extracted to disk."""

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
TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
TEXT = (".txt", ".vec", ".gz")  # without a member, the file itself is the text
MAX_COMPRESSIONS = 3  # a file can be its own gzip without end
OF_MACOS = re.compile(r"(.*/)?(__MACOSX/.*|\._[^/]*|\.DS_Store)")  # in archives that it makes
BAR_LINES = 4096  # lines per update of the progress bar, which is slower than reading a line


@contextmanager
def open_member(
    archive: Path, member: str | None, key: str
) -> Iterator[tuple[BinaryIO, int | None]]:
    """Open a member for reading, with its size in bytes; zip members are verified by their CRC.

    Args:
        member: None for a text file, also gzipped (size None), or for the only file of an archive.
        key: section of params.yaml that configures the file, for messages.

    Raises:
        DataError: the archive is corrupt, or the member is missing, encrypted or unsupported. The
            block raises it too, while it reads.
    """
    opened: Any  # zipfile and tarfile share no interface
    try:
        if member is None and archive.name.endswith(TEXT) and not archive.name.endswith(TAR):
            size = None if archive.suffix == ".gz" else archive.stat().st_size
            with gzip.open(archive) if size is None else archive.open("rb") as opened:
                yield opened, size
        elif archive.name.endswith(TAR):
            with tarfile.open(archive) as opened:
                # regular files only: a link may point outside the archive
                files = {info.name: info for info in opened if info.isfile()}
                info = _find(archive, member, files, key)
                with opened.extractfile(info) as stream:
                    yield stream, info.size
        else:
            with zipfile.ZipFile(archive) as opened:
                infos = {info.filename: info for info in opened.infolist() if not info.is_dir()}
                if opened.namelist().count(member) > 1:
                    raise DataError(f"{archive} has {member} twice; expected it once")
                # ZipExtFile.readline is slow; buffered reads are fast
                info = _find(archive, member, infos, key)
                with io.BufferedReader(opened.open(info), BUFFER_BYTES) as stream:
                    yield stream, info.file_size
    except UNREADABLE as error:
        if isinstance(error, OSError) and error.errno not in (errno.EINVAL, None):
            raise  # an error of the disk, not of the archive
        # tarfile lists each compression on a line
        reason = str(error).partition("\n")[0].rstrip(":") or "the archive is truncated"
        raise DataError(
            f"{archive}: cannot read {member or 'it'} ({reason}); the file is complete and has "
            f"any expected SHA-256, so correct {key}.urls and {key}.sha256 in params.yaml"
        ) from error


def named(archive: Path, member: str | None) -> str:
    """Return the name of a member for messages."""
    return str(archive) if member is None else f"{member} in {archive}"


def _find(archive: Path, member: str | None, files: dict[str, Any], key: str) -> Any:
    if member in files:
        return files[member]
    if member is None:
        if len(files) == 1:
            return next(iter(files.values()))
        problem = f"has {len(files)} files; name one in {key}.member in params.yaml"
        raise DataError(f"{archive} {problem}")
    base = PurePosixPath(member).name
    near = [name for name in files if PurePosixPath(name).name == base]
    near = (near or get_close_matches(member, files, cutoff=0.3) or [*files])[:3]
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


def members(archive: Path) -> list[str]:
    """Return the files of an archive without those of macOS; none for a file of another format."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                names = [info.filename for info in opened.infolist() if not info.is_dir()]
        elif tarfile.is_tarfile(archive):
            with tarfile.open(archive) as files:
                names = [info.name for info in files if info.isfile()]
        else:
            return []
    except UNREADABLE:  # reported when it is read
        return []
    return [name for name in names if not OF_MACOS.fullmatch(name)]


def _zstandard(stream: Any) -> BinaryIO:
    from pyarrow import CompressedInputStream  # 0.3 s that other formats do not need

    return io.BufferedReader(CompressedInputStream(stream, "zstd"))


COMPRESSIONS: dict[bytes, Any] = {
    rb"\x1f\x8b\x08": gzip.open,
    rb"BZh[1-9](1AY&SY|\x17rE8P\x90)": bz2.open,
    rb"\xfd7zXZ\0": lzma.open,
    rb"\x28\xb5\x2f\xfd": _zstandard,
}


def decompressed(stream: Any) -> Any:
    """Return a stream without its compressions, also one inside another."""
    for _ in range(MAX_COMPRESSIONS):
        head = stream.peek(10)
        openers = (opener for magic, opener in COMPRESSIONS.items() if re.match(magic, head))
        if (opener := next(openers, None)) is None:
            break
        stream = opener(stream)
    return stream
