"""Stream members of archives, and report corrupt archives."""

import gzip
import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline.datasets.archive import member_lines, open_member
from tests.pipeline.project import make_zip

LINES = b"".join(b"line %d of the file\n" % i for i in range(20_000))
MODES = {"a.zip": "", "a.tgz": "w:gz", "a.tar": "w", "a.tar.bz2": "w:bz2", "a.tar.xz": "w:xz"}


def make(path: Path, members: dict[str, bytes]) -> Path:
    """Write an archive in the format of its name; a tar also has a folder."""
    if path.suffix == ".zip":
        return make_zip(path, members)
    with tarfile.open(path, MODES[path.name]) as archive:  # type: ignore[call-overload]
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def read(archive: Path, member: str = "f") -> bytes:
    with open_member(archive, member, "texts.sources.a") as (stream, size):
        content = stream.read()
    assert len(content) == size
    return content


@pytest.mark.parametrize("name", MODES)
def test_reads_a_member(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    archive = make(tmp_path / name, {"other": b"x", "folder/f": LINES + b"last", "more": b"y"})
    assert read(archive, "folder/f") == LINES + b"last"
    lines = list(member_lines(archive, "folder/f", "corpus.snli", "words"))
    assert lines[0] == (1, b"line 0 of the file\n")
    assert lines[-1] == (20_001, b"last")
    assert "words: 100%" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a.zip", "a.tgz", "a.tar.xz", "A.TXT", "a.gz"])
def test_without_a_member_the_only_file(tmp_path: Path, name: str) -> None:
    """The content decides what the file is; files that macOS adds do not count."""
    path = tmp_path / name
    if name in MODES:
        junk = ("__MACOSX/._f", "._f", "in/._f", ".DS_Store", "in/.DS_Store")
        path = make(path, {"f": LINES} | dict.fromkeys(junk, b"x")).rename(tmp_path / "renamed")
    else:
        path.write_bytes(gzip.compress(LINES) if name == "a.gz" else LINES)
    lines = list(member_lines(path, None, "vectors.glove", "words"))
    assert (len(lines), lines[-1]) == (20_000, (20_000, b"line 19999 of the file\n"))


def marked(content: bytes, place: int, bits: int) -> bytes:
    """Set bits in the directory of a zip archive."""
    changed = bytearray(content)
    changed[content.index(b"PK\x01\x02") + place] |= bits
    return bytes(changed)


CORRUPT: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "no archive": (
        "a.zip",
        lambda _: b"text",
        r"is not a zip or tar archive with f; correct texts",
    ),
    # the directory is valid, but the content before it is not
    "overwritten": ("a.zip", lambda c: c[:1500] + bytes(100) + c[1600:], r"cannot read f \("),
    "cut": ("a.tgz", lambda c: c[:-1000], r"cannot read f \("),
    "encrypted": ("a.zip", lambda c: marked(c, 8, 1), r"cannot read f \(.*is encrypted"),
    "compression": ("a.zip", lambda c: marked(c, 10, 99), r"cannot read f \(.*compression"),
}


@pytest.mark.parametrize("case", CORRUPT)
def test_corrupt(tmp_path: Path, case: str) -> None:
    name, change, problem = CORRUPT[case]
    archive = make(tmp_path / name, {"f": os.urandom(1000) + LINES})
    archive.write_bytes(change(archive.read_bytes()))
    with pytest.raises(DataError, match=rf"a\.(zip|tgz):? {problem}"):
        read(archive)


def test_a_duplicate_member(tmp_path: Path) -> None:
    archive = make(tmp_path / "a.zip", {"f": b"one"})
    with zipfile.ZipFile(archive, "a") as opened, pytest.warns(UserWarning, match="Duplicate"):
        opened.writestr("f", b"two")
    with pytest.raises(DataError, match=r"a\.zip has f twice; expected it once"):
        read(archive)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_links_are_not_members(tmp_path: Path, kind: bytes) -> None:
    archive = make(tmp_path / "a.tar", {"file": b"x"})
    with tarfile.open(archive, "a") as opened:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = kind, "/etc/passwd"
        opened.addfile(link)
    with pytest.raises(DataError, match=r"a\.tar has no member link \(file\)"):
        read(archive, "link")


def test_a_line_above_the_limit(tmp_path: Path) -> None:
    archive = make(tmp_path / "a.zip", {"f": b"a\n" + bytes(1 << 25)})
    with pytest.raises(DataError, match=r"^f in .*, line 2: longer than 16,777,216 bytes"):
        list(member_lines(archive, "f", "corpus.snli", "f"))
