"""The corpus folder: all splits and their counts, or nothing."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline.sources.jsonl import Pair, read_pairs
from pipeline.sources.splits import write_splits

LABELS = ["neutral", "neutral", "entailment", "-"]
PAIRS = [Pair(str(number), label, "p", "h") for number, label in enumerate(LABELS)]


def test_summary_counts_each_split(tmp_path: Path) -> None:
    write_splits(tmp_path / "corpus", "snli", {"train": PAIRS, "dev": PAIRS[2:]})
    summary = json.loads((tmp_path / "corpus" / "summary.json").read_text())["splits"]
    assert summary["train"] == {
        "pairs": 4,
        "labelled": 3,
        "unlabelled": 1,
        "neutral": 2,
        "entailment": 1,
        "contradiction": 0,
    }
    assert (summary["dev"]["pairs"], summary["dev"]["labelled"]) == (2, 1)
    assert list(read_pairs(tmp_path / "corpus" / "dev.jsonl")) == PAIRS[2:]


def test_failure_in_a_later_split_leaves_none(tmp_path: Path) -> None:
    def broken() -> Iterator[Pair]:
        yield PAIRS[0]
        raise DataError("the source broke")

    folder = tmp_path / "corpus"
    write_splits(folder, "snli", {"train": PAIRS})
    with pytest.raises(DataError, match="the source broke"):
        write_splits(folder, "snli", {"train": PAIRS, "dev": broken()})
    assert not folder.exists()


def test_files_of_an_earlier_run_are_gone(tmp_path: Path) -> None:
    write_splits(tmp_path / "corpus", "snli", {"train": PAIRS, "dev": PAIRS})
    write_splits(tmp_path / "corpus", "snli", {"train": PAIRS})
    names = sorted(path.name for path in (tmp_path / "corpus").iterdir())
    assert names == ["summary.json", "train.jsonl"]
