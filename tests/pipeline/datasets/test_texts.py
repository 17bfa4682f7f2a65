"""Texts from small archives and files."""

from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import DataError
from pipeline.datasets.download import fetch_text
from pipeline.parameters.section import TextSource
from tests.pipeline.project import fetched, make_zip

MEMBERS = {
    "t/first": b"one\ntwo",
    "t/second": "zw\xf6lf\n".encode(),
    "empty": b"",
    "t/third": b"\xff\x00 end",
}
JOINED = b"one\ntwo\nzw\xc3\xb6lf\n\xff\x00 end"


def fetch(path: Path, *members: str, **changes: Any) -> bytes:
    source = fetched(path) | {"name": "a", "members": list(members)} | changes
    return fetch_text(TextSource(**source), "study.text")


def archive(folder: Path) -> Path:
    return make_zip(folder / "mirror.zip", MEMBERS)


def test_members_are_joined_in_the_configured_order(folder: Path) -> None:
    assert fetch(archive(folder), *MEMBERS) == JOINED
    assert fetch(archive(folder), "t/third", "t/first") == b"\xff\x00 end\none\ntwo"


def test_without_members_the_file_is_the_text(folder: Path) -> None:
    plain = folder / "plain.txt"
    plain.write_bytes(JOINED * 3)
    assert fetch(plain) == JOINED * 3


@pytest.mark.parametrize(
    ("members", "changes", "problem"),
    [
        ([], {}, r"^study\.text: .*mirror\.zip is a zip archive; name files of it in study"),
        (["empty"], {}, r"^study\.text: the text is empty; expected at least one byte"),
        (["t/first"], {"sha256": "0" * 64}, r"^study\.text: .*expected 0{64} of params"),
    ],
)
def test_a_bad_source(
    folder: Path, members: list[str], changes: dict[str, str], problem: str
) -> None:
    with pytest.raises(DataError, match=problem):
        fetch(archive(folder), *members, **changes)
