"""Zip archives for the tests."""

import zipfile
from collections.abc import Mapping
from pathlib import Path


def make_zip(path: Path, members: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            # of 1980: the same bytes at any time
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return path
