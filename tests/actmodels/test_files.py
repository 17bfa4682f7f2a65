"""Checksums and atomic writes."""

import os
from pathlib import Path

import pytest

from actmodels.files import CorruptError, add_checksum, verify_checksum, write_text


def test_the_last_line_is_what_sha256sum_prints_of_the_rest() -> None:
    digest = b"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    stored = b"abc\nsha256 " + digest + b"\n"  # FIPS 180-2, appendix B.1
    assert add_checksum(b"abc") == stored and verify_checksum(stored, "file") == b"abc"


def test_no_byte_can_be_changed_lost_or_added() -> None:
    valid = add_checksum(b"some content")
    corrupt = [valid[:n] + bytes([valid[n] ^ 1]) + valid[n + 1 :] for n in range(len(valid))]
    corrupt += [valid[:n] for n in range(len(valid))] + [valid + b"\n", b"\0" + valid, valid * 2]
    for content in corrupt:
        with pytest.raises(CorruptError, match=r"file is corrupt: its content does not have the"):
            verify_checksum(content, "file")


def test_content_is_synced_before_the_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a power failure leaves an empty file."""
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
