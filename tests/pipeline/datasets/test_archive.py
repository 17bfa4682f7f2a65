"""Stream members of archives, and report corrupt archives."""

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline.datasets.archive import member_lines, open_member
from tests.pipeline.project import make_zip

LINES = b"".join(b"line %d of the file\n" % i for i in range(20_000))
MODES = {"a.zip": "", "a.tgz": "w:gz", "a.tar": "w", "a.tar.bz2": "w:bz2", "a.tar.xz": "w:xz"}
BOTH = pytest.mark.parametrize("name", ["a.zip", "a.tgz"])


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


@pytest.mark.parametrize("name", ["a.txt", "a.vec", "a.vec.gz", "a.zip", "a.tgz"])
def test_without_a_member_the_only_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name in MODES:
        make(path, {"f": LINES})
    else:
        path.write_bytes(gzip.compress(LINES) if name.endswith(".gz") else LINES)
    lines = list(member_lines(path, None, "vectors.glove", "words"))
    assert (len(lines), lines[-1]) == (20_000, (20_000, b"line 19999 of the file\n"))
    if name.endswith(".gz"):
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(DataError, match=r"a\.vec\.gz: cannot read it \(Compressed file ended"):
            list(member_lines(path, None, "vectors.glove", "words"))


@BOTH
def test_without_a_member_two_files_are_an_error(tmp_path: Path, name: str) -> None:
    archive = make(tmp_path / name, {"a": b"", "b": b""})
    with pytest.raises(DataError, match=r"has 2 files; name one in vectors\.glove\.member in p"):
        list(member_lines(archive, None, "vectors.glove", "words"))


@pytest.mark.parametrize(
    ("name", "reason"),
    [("a.zip", "File is not a zip file"), ("a.tgz", "file could not be opened successfully")],
)
def test_not_an_archive(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / name).write_bytes(b"<html>log in</html>")
    with pytest.raises(DataError) as caught:
        read(tmp_path / name)
    assert str(caught.value) == (
        f"{tmp_path / name}: cannot read f ({reason}); the file is complete and has any expected "
        "SHA-256, so correct texts.sources.a.urls and texts.sources.a.sha256 in params.yaml"
    )


@BOTH
@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_truncated(tmp_path: Path, name: str, share: float) -> None:
    archive = make(tmp_path / name, {"f": LINES})
    content = archive.read_bytes()
    archive.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(DataError, match=r"cannot read f \(.+\); "):
        read(archive)


@pytest.mark.parametrize("put", [b"", bytes(100)], ids=["cut out", "overwritten"])
def test_corrupt_content(tmp_path: Path, put: bytes) -> None:
    """The directory is valid, but the content before it is not."""
    archive = make(tmp_path / "a.zip", {"f": os.urandom(1000) + LINES})
    content = archive.read_bytes()
    archive.write_bytes(content[:1500] + put + content[1600:])
    with pytest.raises(DataError, match=r"a\.zip: cannot read f \("):
        read(archive)


@BOTH
def test_missing_member(tmp_path: Path, name: str) -> None:
    archive = make(tmp_path / name, {"snli_1.0/dev.jsonl": b"", "README": b""})
    nearest = r"\(the nearest are snli_1.0/dev.jsonl\); correct the name in params\.yaml"
    for wanted in ("snli/dev.jsonl", "snli_1.0/test.jsonl"):
        with pytest.raises(DataError, match=f"has no member {wanted} {nearest}"):
            read(archive, wanted)
    with pytest.raises(DataError, match="has no member folder"):
        read(archive, "folder")
    with pytest.raises(DataError, match="it is empty"):
        read(make(tmp_path / name, {}))


def test_a_duplicate_member(tmp_path: Path) -> None:
    archive = make(tmp_path / "a.zip", {"f": b"one"})
    with zipfile.ZipFile(archive, "a") as opened, pytest.warns(UserWarning, match="Duplicate"):
        opened.writestr("f", b"two")
    with pytest.raises(DataError, match=r"a\.zip has f twice; expected it once"):
        read(archive)


@pytest.mark.parametrize("leads", ["/etc/passwd", "link"])
@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_links_are_not_members(tmp_path: Path, leads: str, kind: bytes) -> None:
    archive = make(tmp_path / "a.tar", {"file": b"x"})
    with tarfile.open(archive, "a") as opened:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = kind, leads
        opened.addfile(link)
    with pytest.raises(DataError, match=r"a\.tar has no member link \(the nearest are file\)"):
        read(archive, "link")


@BOTH
def test_a_line_above_the_limit(tmp_path: Path, name: str) -> None:
    archive = make(tmp_path / name, {"f": b"a\n" + bytes(1 << 25)})
    with pytest.raises(DataError, match=r"^f in .*, line 2: longer than 16,777,216 bytes"):
        list(member_lines(archive, "f", "corpus.snli", "f"))


@pytest.mark.parametrize(
    ("place", "bits", "problem"), [(8, 1, "is encrypted"), (10, 99, "compression")]
)
def test_encryption_and_unknown_compression(
    tmp_path: Path, place: int, bits: int, problem: str
) -> None:
    archive = make(tmp_path / "a.zip", {"f": LINES})
    content = bytearray(archive.read_bytes())
    content[content.index(b"PK\x01\x02") + place] |= bits
    archive.write_bytes(content)
    with pytest.raises(DataError, match=rf"cannot read f \(.*{problem}"):
        read(archive)


def test_malicious_names_write_nothing(tmp_path: Path) -> None:
    names = ["../evil", "/tmp/evil-of-the-test", "..\\evil", "in/../../evil"]
    archive = make(tmp_path / "a.zip", dict.fromkeys(names, b"evil"))
    for name in names:
        assert read(archive, name) == b"evil"
    assert list(tmp_path.iterdir()) == [archive]
    assert not Path("/tmp/evil-of-the-test").exists()
    assert not (tmp_path.parent / "evil").exists()
