"""A sealed file is what was written, or it is not read."""

import os
from pathlib import Path

import pytest

from actmodels.files import SEAL, DamagedError, read_sealed, set_aside, write_sealed, write_text


@pytest.mark.parametrize("content", [b"", b"a", b"\n", b"two\nlines\n", bytes(range(256)) * 5])
def test_round_trip(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    write_sealed(path, content)
    assert read_sealed(path) == content
    assert path.stat().st_size == len(content) + SEAL
    write_sealed(path, memoryview(b"other"))
    assert read_sealed(path) == b"other"


def test_the_last_line_is_what_sha256sum_prints_of_the_rest(tmp_path: Path) -> None:
    write_sealed(tmp_path / "file", b"abc")  # FIPS 180-2, appendix B.1
    digest = b"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (tmp_path / "file").read_bytes() == b"abc\nsha256 " + digest + b"\n"


def test_no_byte_can_be_changed_lost_or_added(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_sealed(path, b"some content")
    sound = path.read_bytes()
    wrong = [sound[:n] + bytes([sound[n] ^ 1]) + sound[n + 1 :] for n in range(len(sound))]
    wrong += [sound[:n] for n in range(len(sound))] + [sound + b"\n", b"\0" + sound, sound * 2]
    for content in wrong:
        path.write_bytes(content)
        with pytest.raises(DamagedError, match=r"file is damaged: its content does not have the"):
            read_sealed(path)


def test_what_is_set_aside_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for content in ("first", "second"):
        path.write_text(content)
        assert set_aside(path) == tmp_path / "a.json.damaged"
        assert [p.name for p in tmp_path.iterdir()] == ["a.json.damaged"]
        assert (tmp_path / "a.json.damaged").read_text() == content


def test_content_is_on_the_disk_before_the_name_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a power cut leaves the new name with nothing in it."""
    done: list[tuple[str, int]] = []
    fsync, replace = os.fsync, Path.replace
    monkeypatch.setattr(
        os, "fsync", lambda fd: (done.append(("fsync", os.fstat(fd).st_ino)), fsync(fd))
    )
    monkeypatch.setattr(
        Path, "replace", lambda a, b: (done.append(("replace", a.stat().st_ino)), replace(a, b))
    )
    write_text(tmp_path / "file", "content")
    inode = (tmp_path / "file").stat().st_ino
    assert done == [("fsync", inode), ("replace", inode)]
