"""The digests of local files: an edit shows, and an unchanged file is not read again."""

import hashlib
import os
import sys
from pathlib import Path

import pytest

from actmodels.files import write_text
from pipeline import watch
from tests.pipeline.project import read_output, write_params


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["watch", "corpus"])
    for name in ("a-1.csv", "a-2.csv", "b.zip"):
        (tmp_path / name).write_text(name)
        os.utime(tmp_path / name, ns=(1, 1))
    files = {"train": "a-*.csv", "dev": ["b.zip::*.csv", "https://host/x.csv"], "test": "no.csv"}
    write_params(tmp_path, corpus={"source": "files", "files": files})
    return tmp_path


def digests(folder: Path) -> dict[str, dict[str, str]]:
    watch.main()
    return dict(read_output(folder, "watch/corpus", "files.json"))


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_files_of_paths_globs_and_archives(folder: Path) -> None:
    assert digests(folder) == {
        "a-*.csv": {name: sha256(name) for name in ("a-1.csv", "a-2.csv")},
        "b.zip::*.csv": {"b.zip": sha256("b.zip")},
        "https://host/x.csv": {},
        "no.csv": {"no.csv": "no file"},
    }
    (folder / "a-3.csv").write_text("new")
    assert [*digests(folder)["a-*.csv"]] == ["a-1.csv", "a-2.csv", "a-3.csv"]


def test_a_sweep_that_was_ended_is_counted_until_it_completes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["watch", "sweep"])
    summary, counts = folder / "artifacts/sweep/summary.json", list[int]()
    for text in ("", '{"ended": "by"}', "{}", '{"ended": "by"}', "{", '{"ended": "by"}'):
        write_text(summary, text)
        watch.main()
        counts.append(read_output(folder, "watch/sweep", "files.json")["ended runs"])
    assert counts == [0, 1, 1, 2, 2, 3]


def test_an_edit_of_the_same_size_and_time_is_noticed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "RECENT_NS", 0)
    first = digests(folder)
    (folder / "a-1.csv").write_text("A-1.csv")
    os.utime(folder / "a-1.csv", ns=(1, 1))  # the time of its status on the disk has changed
    assert digests(folder)["a-*.csv"]["a-1.csv"] == sha256("A-1.csv")
    monkeypatch.setattr(watch, "file_digest", lambda path: "read again")
    assert digests(folder)["b.zip::*.csv"] == first["b.zip::*.csv"]
    (folder / "state" / "watched-corpus.json").write_text("{")
    assert digests(folder)["b.zip::*.csv"] == {"b.zip": "read again"}
