"""Streaming reads of zip members, and what is said of broken archives."""

import os
from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline.sources.archive import member_lines, open_member
from tests.pipeline.sources.zips import flip, make_zip

LINES = b"".join(b"line %d of the file\n" % i for i in range(10_000))


def read(archive: Path, member: str) -> bytes:
    with open_member(archive, member) as stream:
        return stream.read()


def test_reads_a_member(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"other": b"x", "folder/file.txt": LINES})
    assert read(archive, "folder/file.txt") == LINES


def test_lines_are_numbered_from_one(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"f": LINES + b"last"})
    lines = list(member_lines(archive, "f", "f"))
    assert lines[0] == (1, b"line 0 of the file\n")
    assert lines[-1] == (10_001, b"last")
    assert b"".join(line for _, line in lines) == LINES + b"last"


def test_bar_ends_at_the_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = make_zip(tmp_path / "a.zip", {"f": LINES})
    list(member_lines(archive, "f", "words"))
    assert "words: 100%" in capsys.readouterr().err


def test_not_a_zip(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"<html>log in</html>")
    with pytest.raises(DataError, match=r"a\.zip: cannot read f \(File is not a zip file\)"):
        read(tmp_path / "a.zip", "f")


def test_truncated_archive(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"f": LINES})
    archive.write_bytes(archive.read_bytes()[:-40])
    with pytest.raises(DataError, match=r"not a zip file.*run again to fetch it anew"):
        read(archive, "f")


def test_member_that_ends_too_soon(tmp_path: Path) -> None:
    """The directory is whole but the content in front of it has lost its middle."""
    archive = make_zip(tmp_path / "a.zip", {"f": os.urandom(5000)})
    content = archive.read_bytes()
    archive.write_bytes(content[:1000] + content[4000:])
    with pytest.raises(DataError, match=r"a\.zip: cannot read f \("):
        read(archive, "f")


def test_damaged_content(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"f": LINES}, deflated=False)
    flip(archive, b"line 77")
    with pytest.raises(DataError, match=r"cannot read f \(Bad CRC-32"):
        list(member_lines(archive, "f", "f"))


def test_damaged_compression(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"f": os.urandom(1000) + LINES})
    content = bytearray(archive.read_bytes())
    content[1500:1600] = bytes(100)
    archive.write_bytes(content)
    with pytest.raises(DataError, match="cannot read f "):
        read(archive, "f")


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("snli/dev.jsonl", "the nearest are snli_1.0/dev.jsonl"),
        ("snli_1.0/test.jsonl", "the nearest are snli_1.0/dev.jsonl"),
        ("#", "the nearest are snli_1.0/dev.jsonl, README"),
    ],
)
def test_missing_member(tmp_path: Path, asked: str, nearest: str) -> None:
    archive = make_zip(tmp_path / "a.zip", {"snli_1.0/dev.jsonl": b"", "README": b""})
    with pytest.raises(DataError, match=rf"has no member {asked} \({nearest}.*params\.yaml"):
        read(archive, asked)


def test_empty_archive(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="it is empty"):
        read(make_zip(tmp_path / "a.zip", {}), "f")


def test_encrypted_member(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"f": LINES})
    content = bytearray(archive.read_bytes())
    for header, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(header) + flags] |= 1
    archive.write_bytes(content)
    with pytest.raises(DataError, match="f is encrypted"):
        read(archive, "f")


def test_unknown_compression(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", {"f": LINES})
    content = bytearray(archive.read_bytes())
    content[content.index(b"PK\x01\x02") + 10] = 99
    archive.write_bytes(content)
    with pytest.raises(DataError, match="unsupported: "):
        read(archive, "f")


def test_hostile_names_write_nothing(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    names = ["../evil", "/tmp/evil-of-the-test", "..\\evil", "in/../../evil"]
    archive = make_zip(tmp_path / "in" / "a.zip", dict.fromkeys(names, b"evil"))
    before = sorted(tmp_path.rglob("*"))
    for name in names:
        assert read(archive, name) == b"evil"
    assert sorted(tmp_path.rglob("*")) == before
    assert not Path("/tmp/evil-of-the-test").exists()
    assert not (tmp_path.parent / "evil").exists()
