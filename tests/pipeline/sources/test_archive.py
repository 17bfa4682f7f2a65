"""Streaming reads of members of archives, and what is said of broken ones."""

import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline.sources.archive import member_lines, open_member
from tests.pipeline.sources.zips import flip, make_zip

LINES = b"".join(b"line %d of the file\n" % i for i in range(20_000))
KINDS = {"a.zip": "", "a.tgz": "w:gz", "a.tar": "w", "a.tar.bz2": "w:bz2", "a.tar.xz": "w:xz"}


def make(path: Path, members: dict[str, bytes]) -> Path:
    """An archive of the kind that its name says, in a tar with an entry for a folder too."""
    if path.suffix == ".zip":
        return make_zip(path, members)
    with tarfile.open(path, KINDS[path.name]) as archive:  # type: ignore[call-overload]
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def read(archive: Path, member: str) -> bytes:
    with open_member(archive, member, "texts.sources.a") as stream:
        return stream.read()


@pytest.mark.parametrize("name", KINDS)
def test_reads_a_member(tmp_path: Path, name: str) -> None:
    archive = make(tmp_path / name, {"other": b"x", "folder/file.txt": LINES, "more": b"y"})
    assert read(archive, "folder/file.txt") == LINES


@pytest.mark.parametrize("name", ["a.zip", "a.tgz"])
def test_lines_are_numbered_from_one_under_a_bar(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = make(tmp_path / name, {"f": LINES + b"last"})
    lines = list(member_lines(archive, "f", "corpus.snli", "words"))
    assert lines[0] == (1, b"line 0 of the file\n")
    assert lines[-1] == (20_001, b"last")
    assert b"".join(line for _, line in lines) == LINES + b"last"
    assert "words: 100%" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "reason"),
    [("a.zip", "File is not a zip file"), ("a.tgz", "file could not be opened successfully")],
)
def test_another_file(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / name).write_bytes(b"<html>log in</html>")
    with pytest.raises(DataError) as caught:
        read(tmp_path / name, "f")
    assert str(caught.value) == (
        f"{tmp_path / name}: cannot read f ({reason}); the file has the expected SHA-256, so "
        "correct texts.sources.a.urls and texts.sources.a.sha256 in params.yaml"
    )


@pytest.mark.parametrize("name", ["a.zip", "a.tgz"])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_truncated(tmp_path: Path, name: str, share: float) -> None:
    archive = make(tmp_path / name, {"f": LINES})
    content = archive.read_bytes()
    archive.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(DataError, match=r"cannot read f \(.+\); .*correct corpus\.snli\.urls"):
        list(member_lines(archive, "f", "corpus.snli", "f"))


@pytest.mark.parametrize("put", [b"", bytes(100)], ids=["cut out", "overwritten"])
def test_damaged_compression(tmp_path: Path, put: bytes) -> None:
    """The directory is whole but the content in front of it is not."""
    archive = make(tmp_path / "a.zip", {"f": os.urandom(1000) + LINES})
    content = archive.read_bytes()
    archive.write_bytes(content[:1500] + put + content[1600:])
    with pytest.raises(DataError, match=r"a\.zip: cannot read f \("):
        read(archive, "f")


def test_damaged_content(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"f": LINES}, deflated=False)
    flip(archive, b"line 77")
    with pytest.raises(DataError, match=r"cannot read f \(Bad CRC-32"):
        list(member_lines(archive, "f", "corpus.snli", "f"))


@pytest.mark.parametrize("name", ["a.zip", "a.tgz"])
@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("snli/dev.jsonl", "the nearest are snli_1.0/dev.jsonl"),
        ("snli_1.0/test.jsonl", "the nearest are snli_1.0/dev.jsonl"),
        ("#", "the nearest are "),
    ],
)
def test_missing_member(tmp_path: Path, name: str, asked: str, nearest: str) -> None:
    archive = make(tmp_path / name, {"snli_1.0/dev.jsonl": b"", "README": b""})
    with pytest.raises(DataError, match=rf"has no member {asked} \({nearest}.*params\.yaml"):
        read(archive, asked)


def test_neither_a_folder_nor_nothing_is_a_member(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.tgz has no member folder \("):
        read(make(tmp_path / "a.tgz", {"folder/file": b"x"}), "folder")
    with pytest.raises(DataError, match="it is empty"):
        read(make(tmp_path / "a.zip", {}), "f")


def test_a_member_that_is_there_twice(tmp_path: Path) -> None:
    archive = make(tmp_path / "a.zip", {"f": b"one"})
    with zipfile.ZipFile(archive, "a") as opened, pytest.warns(UserWarning, match="Duplicate"):
        opened.writestr("f", b"two")
    with pytest.raises(DataError, match=r"a\.zip holds f twice; expected an archive with one"):
        read(archive, "f")


@pytest.mark.parametrize("leads", ["/etc/passwd", "../outside", "link", "file"])
@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_a_link_is_no_member(tmp_path: Path, leads: str, kind: bytes) -> None:
    archive = make(tmp_path / "a.tar", {"file": b"x"})
    with tarfile.open(archive, "a") as opened:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = kind, leads
        opened.addfile(link)
    with pytest.raises(DataError, match=rf"a\.tar: link is a link to {leads}, not a file; name a"):
        read(archive, "link")


@pytest.mark.parametrize("name", ["a.zip", "a.tgz"])
def test_one_line_without_end(tmp_path: Path, name: str) -> None:
    archive = make(tmp_path / name, {"f": b"a\n" + bytes(1 << 25)})
    with pytest.raises(DataError, match=r"^f in .*, line 2: longer than 16,777,216 bytes"):
        list(member_lines(archive, "f", "corpus.snli", "f"))


@pytest.mark.parametrize(
    ("place", "bits", "problem"),
    [(8, 1, "f is encrypted"), (10, 99, "unsupported: ")],
    ids=["encrypted", "unknown compression"],
)
def test_what_cannot_be_read(tmp_path: Path, place: int, bits: int, problem: str) -> None:
    archive = make(tmp_path / "a.zip", {"f": LINES})
    content = bytearray(archive.read_bytes())
    directory = content.index(b"PK\x01\x02")
    content[directory + place] |= bits
    archive.write_bytes(content)
    with pytest.raises(DataError, match=problem):
        read(archive, "f")


def test_hostile_names_write_nothing(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    names = ["../evil", "/tmp/evil-of-the-test", "..\\evil", "in/../../evil"]
    archive = make(tmp_path / "in" / "a.zip", dict.fromkeys(names, b"evil"))
    before = sorted(tmp_path.rglob("*"))
    for name in names:
        assert read(archive, name) == b"evil"
    assert sorted(tmp_path.rglob("*")) == before
    assert not Path("/tmp/evil-of-the-test").exists()
    assert not (tmp_path.parent / "evil").exists()
