"""Streaming reads of tar members, and what is said of broken archives."""

import io
import tarfile
from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline.sources.archive import member_lines, open_member

LINES = b"".join(b"line %d of the file\n" % i for i in range(20_000))


def make_tar(path: Path, members: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


@pytest.mark.parametrize(
    ("name", "mode"),
    [("a.tgz", "w:gz"), ("a.tar", "w"), ("a.tar.bz2", "w:bz2"), ("a.tar.xz", "w:xz")],
)
def test_reads_a_member(tmp_path: Path, name: str, mode: str) -> None:
    archive = make_tar(tmp_path / name, {"other": b"x", "folder/file": LINES, "more": b"y"}, mode)
    with open_member(archive, "folder/file") as stream:
        assert stream.read() == LINES


def test_lines_are_numbered_from_one_under_a_bar(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = make_tar(tmp_path / "a.tgz", {"f": LINES + b"last"})
    lines = list(member_lines(archive, "f", "words"))
    assert lines[0] == (1, b"line 0 of the file\n")
    assert lines[-1] == (20_001, b"last")
    assert "words: 100%" in capsys.readouterr().err


@pytest.mark.parametrize("member", ["folder/fil", "folder"])
def test_no_such_member(tmp_path: Path, member: str) -> None:
    archive = make_tar(tmp_path / "a.tgz", {"folder/file": b"x"})
    wording = rf"a\.tgz has no member {member} \(.*\); correct the name in params\.yaml"
    with pytest.raises(DataError, match=wording), open_member(archive, member):
        pass


def test_not_a_tar(tmp_path: Path) -> None:
    (tmp_path / "a.tgz").write_bytes(b"<html>log in</html>")
    wording = (
        r"a\.tgz: cannot read f \(file could not be opened successfully\); remove the archive and "
        "run again to fetch it anew"
    )
    with pytest.raises(DataError, match=wording), open_member(tmp_path / "a.tgz", "f"):
        pass


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_truncated(tmp_path: Path, share: float) -> None:
    whole = make_tar(tmp_path / "whole.tgz", {"f": LINES}).read_bytes()
    archive = tmp_path / "cut.tgz"
    archive.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(DataError, match=r"cut\.tgz: cannot read f \(.*\); remove the archive"):
        list(member_lines(archive, "f", "f"))
