"""Stream members of zip and tar archives, and text files; nothing is extracted to disk.

The content decides what a file is, not its name: its first bytes, or the members of a zip archive.
"""

import bz2
import errno
import fnmatch
import gzip
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from actmodels.errors import DataError
from actmodels.files import regular
from pipeline.datasets.text_lines import numbered_lines

Files = list[tuple[Path, str | None]]  # with the member of an archive
BUFFER_BYTES = 1 << 20
MAX_COMPRESSIONS = 3  # a file can be its own gzip without end
UNREADABLE = (  # RuntimeError: encryption or an unknown compression
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError),
    *(EOFError, RuntimeError, OSError),
)
ZIP = (b"PK\3\4", b"PK\5\6")
OF_MACOS = re.compile(r"(.*/)?(__MACOSX/.*|\._[^/]*|\.DS_Store)")  # in archives that it makes
MAX_LISTED = 10
BAR_LINES = 4096  # lines per update of the progress bar, which is slower than reading a line
FOREIGN = (  # what comes in place of a file: its first bytes, its name, and an advice
    (rb"version https://git-lfs\.github\.com/", "a Git LFS pointer", "run: git lfs pull"),
    (
        rb"(?i)(\xef\xbb\xbf)?\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html|head)\b",
        "a web page, perhaps to sign in",
        "download the file in a browser, and name its path",
    ),
)
OTHER = (
    (rb"\xff\xfe|\xfe\xff|([^\0]\0){4}|(\0[^\0]){4}", "text in UTF-16"),
    (rb"(\xef\xbb\xbf)?\s*(<\?xml|<[\w-]+[^<>\t]*>\s*<)", "XML"),
    (rb"\xd0\xcf\x11\xe0", "an old Excel or Word file"),
    (rb"\x89HDF", "HDF5"),
    (rb"\x93NUMPY", "a NumPy array"),
    (rb"\x80[\2-\5]", "a Python pickle"),
    (rb"SQLite format", "an SQLite database"),
    (rb"%PDF", "PDF"),
    (rb"FEA1", "Feather of version 1"),
    (rb"(Rar!|7z\xbc\xaf)", "an archive of RAR or 7-Zip"),
    (rb".{7}\0\{", "safetensors"),
)
COLUMNAR = ((rb"PAR1", "Parquet"), (rb"ARROW1", "Feather"), (rb"\xff{4}", "Arrow"))


@contextmanager
def open_member(archive: Path, member: str | None, key: str) -> Iterator[tuple[Any, int | None]]:
    """Open a member or a text file, and return its stream and its size in bytes.

    Compressed ones are decompressed, and their size is None; the CRC of zip members is verified.

    Args:
        member: None for a text file, or for the only file of an archive.
        key: section of params.yaml that configures the file, for messages.

    Raises:
        DataError: the archive is corrupt, or the member is missing, encrypted or unsupported. The
            block raises it too, while it reads.
    """
    try:
        with _container(archive) as opened:
            raw: Any
            if isinstance(opened, zipfile.ZipFile) and opened.namelist().count(member or "") > 1:
                raise DataError(f"{archive} has {member} twice; expected it once")
            if opened is not None:
                open_file, size = _find(archive, member, _files(opened), key)
                raw = open_file()
            elif member is None:
                raw, size = archive.open("rb", buffering=0), archive.stat().st_size
            else:
                advice = f"correct {key}, or name no member for a text file"
                raise DataError(f"{archive} is not a zip or tar archive with {member}; {advice}")
            with io.BufferedReader(raw, BUFFER_BYTES) as file:  # ZipExtFile.readline is slow
                stream = _decompressed(file)
                yield stream, size if stream is file else None
    except UNREADABLE as error:
        if isinstance(error, OSError) and error.errno not in (errno.EINVAL, None):
            raise  # an error of the disk, not of the archive
        # tarfile lists each compression on a line
        reason = str(error).partition("\n")[0].rstrip(":") or "the archive is truncated"
        raise DataError(
            f"{archive}: cannot read {member or 'it'} ({reason}); it is corrupt or incomplete, so "
            f"replace it, or correct {key} in params.yaml"
        ) from error


def members(archive: Path) -> list[str]:
    """Return the files of an archive without those of macOS; none for a file of another format."""
    try:
        with _container(archive) as opened:
            files = {} if opened is None else _files(opened)
    except UNREADABLE:  # reported when it is read
        files = {}
    return _names(files)


def _container(archive: Path) -> Any:
    with regular(archive).open("rb") as file:
        if file.read(4) in ZIP:
            opened = zipfile.ZipFile(archive)
            if kind := zipped_format(opened.namelist()):
                advice = "save pairs as CSV in UTF-8, or vectors as lines of a word and its numbers"
                raise DataError(f"{archive} is {kind}; {advice}")
            return opened
    return tarfile.open(archive) if tarfile.is_tarfile(archive) else nullcontext()


def _files(opened: Any) -> dict[str, tuple[Callable[[], Any], int]]:
    """Return functions that open the files of an archive, and their sizes, by name."""
    if not isinstance(opened, zipfile.ZipFile):  # a link of tar may point outside the archive
        infos = (info for info in opened if info.isfile())
        return {info.name: (partial(opened.extractfile, info), info.size) for info in infos}
    infos = (info for info in opened.infolist() if not info.is_dir())
    return {info.filename: (partial(opened.open, info), info.file_size) for info in infos}


def _names(files: dict[str, Any]) -> list[str]:
    return [name for name in files if not OF_MACOS.fullmatch(name)]


def _zstandard(stream: Any) -> Any:
    from pyarrow import CompressedInputStream  # 0.3 s that other formats do not need

    return io.BufferedReader(CompressedInputStream(stream, "zstd"))


COMPRESSIONS: dict[bytes, Any] = {
    rb"\x1f\x8b\x08": gzip.open,
    rb"BZh[1-9](1AY&SY|\x17rE8P\x90)": bz2.open,
    rb"\xfd7zXZ\0": lzma.open,
    rb"\x28\xb5\x2f\xfd": _zstandard,
}


def _decompressed(stream: Any) -> Any:
    for _ in range(MAX_COMPRESSIONS):
        head = stream.peek(10)
        openers = (opener for magic, opener in COMPRESSIONS.items() if re.match(magic, head))
        if (opener := next(openers, None)) is None:
            break
        stream = opener(stream)
    return stream


def named(archive: Path, member: str | None) -> str:
    """Return the name of a member for messages."""
    return str(archive) if member is None else f"{member} in {archive}"


def listed(names: list[str]) -> str:
    """Return the first names for messages, and how many more there are."""
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return ", ".join(names[:MAX_LISTED]) + more


def _find(archive: Path, member: str | None, files: dict[str, Any], key: str) -> Any:
    if member in files:
        return files[member]
    names = _names(files)
    if member is None and len(names) == 1:
        return files[names[0]]
    problem, place = f"has {len(names)} files", f"in {key}.member in params.yaml"
    if member is not None:
        problem, place = f"has no member {member}", "in params.yaml"
        names = get_close_matches(member, names, len(names) or 1, cutoff=0)  # the nearest first
    raise DataError(f"{archive} {problem} ({listed(names) or 'it is empty'}); name one {place}")


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


def in_archive(path: Path, wanted: str, key: str) -> Files:
    """Return the files of an archive that `wanted` names, a name or a glob; or the path itself."""
    names = members(path)
    if not (names or wanted):
        return [(path, None)]
    chosen = [wanted] if wanted in names else fnmatch.filter(names, wanted or "*")
    if not chosen or (len(chosen) > 1 and not wanted):
        problem = f"{path} has the files {listed(names) or 'of no archive'}"
        raise DataError(f"{key}: {problem}; name one, or a glob: {path}::MEMBER")
    return [(path, member) for member in chosen]


def foreign(head: bytes) -> tuple[str, str] | None:
    """Return what comes in place of a file with these first bytes, and an advice."""
    known = ((name, advice) for pattern, name, advice in FOREIGN if re.match(pattern, head))
    return next(known, None)


def other_format(head: bytes) -> str | None:
    """Return the name of a format that is neither text in UTF-8 nor columnar."""
    return _first(OTHER, head)


def columnar_format(head: bytes) -> str | None:
    """Return the name of a format of columns."""
    return _first(COLUMNAR, head)


def _first(formats: tuple[tuple[bytes, str], ...], head: bytes) -> str | None:
    return next((name for pattern, name in formats if re.match(pattern, head, re.DOTALL)), None)


def zipped_format(names: Collection[str]) -> str | None:
    """Return the name of a format that is a zip archive of these members."""
    if "[Content_Types].xml" in names or {"mimetype", "content.xml"} <= {*names}:
        return "an Excel workbook, or another Office file"
    if names and all(name.endswith(".npy") for name in names):
        return "NumPy arrays"
    return "a PyTorch file" if any(name.endswith("/data.pkl") for name in names) else None
