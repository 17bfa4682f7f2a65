"""The corpus artefact, written and read back: all splits and their counts, or nothing."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline.sources.jsonl import Pair, read_pairs, write_splits

PAIRS = [
    Pair("1#r1n", "neutral", "A man in a café.", "He said “no”.\u2028\tGood\n", 0),
    Pair("2", "-", "", "\\", 0),
    Pair("3", "contradiction", "日本語", "x", 4),
    Pair("4", "neutral", "p", "h"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_splits(tmp_path / "corpus", "snli", {"train": iter(PAIRS), "dev": PAIRS[2:]})
    return tmp_path / "corpus"


def test_round_trip(folder: Path) -> None:
    assert list(read_pairs(folder / "train.jsonl")) == PAIRS
    assert list(read_pairs(folder / "dev.jsonl")) == PAIRS[2:]


def test_keys_in_order_and_text_unescaped(folder: Path) -> None:
    lines = (folder / "train.jsonl").read_bytes().split(b"\n")
    assert len(lines) == len(PAIRS) + 1
    assert list(json.loads(lines[0])) == ["gold_label", "sentence1", "sentence2", "pairID"]
    assert lines[2].endswith(b', "pairID": "3", "reasoning_depth": 4}')
    assert "日本語".encode() in lines[2]


def test_summary_counts_each_split(folder: Path) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["source"] == "snli"
    assert summary["splits"]["train"] == {
        "pairs": 4,
        "labelled": 3,
        "unlabelled": 1,
        "neutral": 2,
        "entailment": 0,
        "contradiction": 1,
    }
    assert (summary["splits"]["dev"]["pairs"], summary["splits"]["dev"]["labelled"]) == (2, 2)


def test_failure_in_a_later_split_leaves_none(folder: Path) -> None:
    def broken() -> Iterator[Pair]:
        yield PAIRS[0]
        raise DataError("the source broke")

    with pytest.raises(DataError, match="the source broke"):
        write_splits(folder, "snli", {"train": PAIRS, "dev": broken()})
    assert not folder.exists()


def test_files_of_an_earlier_run_are_gone(folder: Path) -> None:
    write_splits(folder, "snli", {"train": PAIRS})
    assert sorted(path.name for path in folder.iterdir()) == ["summary.json", "train.jsonl"]
