"""Stage `texts` on small archives and files."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import DataError
from pipeline import texts
from pipeline.runtime.results import stored_text
from tests.pipeline.project import fetched, make_zip, read_output, write_params, written

MEMBERS = {
    "t/first": b"one\ntwo",
    "t/second": "zw\xf6lf\n".encode(),
    "empty": b"",
    "t/third": b"\xff\x00 end",
}
JOINED = b"one\ntwo\nzw\xc3\xb6lf\n\xff\x00 end"


def run_stage(folder: Path, **sources: Any) -> dict[str, bytes]:
    """Run the stage on some sources and return its files."""
    write_params(folder, texts={"sources": sources})
    texts.main()
    return written(folder, "texts")


def source(path: Path, *members: str, **changes: Any) -> dict[str, Any]:
    return fetched(path) | {"members": list(members)} | changes


def archive(folder: Path) -> Path:
    return make_zip(folder / "mirror.zip", MEMBERS)


def test_without_sources_there_is_only_an_empty_summary(folder: Path) -> None:
    assert list(run_stage(folder)) == ["summary.json"]
    assert read_output(folder, "texts") == {"texts": {}}
    assert not (folder / "state").exists()


def test_members_are_joined_in_the_configured_order(folder: Path) -> None:
    last = source(archive(folder), "t/third")
    result = run_stage(folder, all=source(archive(folder), *MEMBERS), last=last)
    assert (result["all.txt"], result["last.txt"]) == (JOINED, MEMBERS["t/third"])
    digest = hashlib.sha256(JOINED).hexdigest()
    assert read_output(folder, "texts")["texts"]["all"] == {"bytes": len(JOINED), "sha256": digest}
    text = stored_text("all")
    assert text.path == folder / "artifacts" / "texts" / "all.txt"
    assert text.sha256 == digest
    result = run_stage(folder, all=source(archive(folder), "t/third", "t/first"))
    assert set(result) == {"all.txt", "summary.json"}  # the text no longer configured is removed
    assert result["all.txt"] == b"\xff\x00 end\none\ntwo"


def test_without_members_the_file_is_the_text(folder: Path) -> None:
    plain = folder / "plain.txt"
    plain.write_bytes(JOINED * 3)
    before = run_stage(folder, plain=source(plain))
    assert before["plain.txt"] == JOINED * 3
    plain.unlink()
    texts.main()  # from state/downloads
    assert written(folder, "texts") == before
    with pytest.raises(DataError, match=r"^texts\.sources\.far: .*expected 0{64} of params"):
        run_stage(folder, far=source(archive(folder), "t/first", sha256="0" * 64))
    assert written(folder, "texts") == before


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ([], r"texts\.sources\.bad: .*mirror\.zip is a zip archive; name files of it in texts\.so"),
        (["empty"], r"^texts\.sources\.bad: the text is empty; expected at least one byte"),
    ],
)
def test_a_bad_source_leaves_nothing(folder: Path, members: list[str], problem: str) -> None:
    good = source(archive(folder), "t/first")
    with pytest.raises(DataError, match=problem):
        run_stage(folder, good=good, bad=source(archive(folder), *members))
    assert list((folder / "artifacts").iterdir()) == []
