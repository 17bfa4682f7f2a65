"""The artifact, and values of a pair."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline.datasets.pairs import Pair, read_pairs, write_splits
from pipeline.parameters.labels import NLI, ClassReader

CLASSES = ClassReader(NLI, {})
GOOD: Pair = {"gold_label": "neutral", "sentence1": "a", "sentence2": "b", "pairID": "1"}
PAIRS = [
    GOOD | {"sentence1": "A man in a café.", "sentence2": "He said “no”.\u2028\tGood\n"},
    GOOD | {"gold_label": "-", "sentence1": "", "sentence2": "\\"},
    GOOD | {"gold_label": "contradiction", "sentence1": "日本語", "reasoning_depth": 4},
    GOOD | {"sentence1_binary_parse": "( a b )", "sentence2_binary_parse": ""},
]


def test_round_trip_and_summary(tmp_path: Path) -> None:
    write_splits(tmp_path / "corpus", "snli", CLASSES, {"train": iter(PAIRS), "dev": PAIRS[2:]})
    assert list(read_pairs(tmp_path / "corpus" / "train.jsonl")) == PAIRS
    assert list(read_pairs(tmp_path / "corpus" / "dev.jsonl")) == PAIRS[2:]
    lines = (tmp_path / "corpus" / "train.jsonl").read_bytes().split(b"\n")
    assert len(lines) == len(PAIRS) + 1
    assert "日本語".encode() in lines[2]
    summary = json.loads((tmp_path / "corpus" / "summary.json").read_text())
    assert summary["source"] == "snli"
    assert summary["splits"]["train"] == {
        **{"pairs": 4, "labeled": 3, "unlabeled": 1},
        "classes": {"neutral": 2, "entailment": 0, "contradiction": 1},
    }


def test_files_of_an_earlier_run_are_removed_also_on_failure(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    write_splits(folder, "snli", CLASSES, {"train": PAIRS, "dev": PAIRS[2:]})
    write_splits(folder, "snli", CLASSES, {"train": PAIRS})
    assert sorted(path.name for path in folder.iterdir()) == ["summary.json", "train.jsonl"]

    def broken() -> Iterator[Pair]:
        yield PAIRS[0]
        raise DataError("the source broke")

    with pytest.raises(DataError, match="the source broke"):
        write_splits(folder, "snli", CLASSES, {"train": PAIRS, "dev": broken()})
    assert not folder.exists()
