"""Zip archives for the tests, sound and broken."""

import zipfile
from collections.abc import Mapping
from pathlib import Path


def make_zip(path: Path, members: Mapping[str, bytes], deflated: bool = True) -> Path:
    method = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)  # of 1980: the same bytes at any time
            archive.writestr(info, content, method)
    return path


def flip(path: Path, needle: bytes) -> None:
    """Damage the stored content where `needle` stands."""
    content = path.read_bytes()
    place = content.index(needle)
    path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
