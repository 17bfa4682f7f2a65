"""The corpus artifact, and lines of SNLI."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import DataError
from pipeline.datasets.rows import Row
from pipeline.datasets.snli import Pair, checked_pair, read_pairs, write_splits

GOOD: Pair = {"gold_label": "neutral", "sentence1": "a", "sentence2": "b", "pairID": "1"}
PAIRS = [
    GOOD | {"sentence1": "A man in a café.", "sentence2": "He said “no”.\u2028\tGood\n"},
    GOOD | {"gold_label": "-", "sentence1": "", "sentence2": "\\"},
    GOOD | {"gold_label": "contradiction", "sentence1": "日本語", "reasoning_depth": 4},
    GOOD | {"sentence1_binary_parse": "( a b )", "sentence2_binary_parse": ""},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_splits(tmp_path / "corpus", "snli", {"train": iter(PAIRS), "dev": PAIRS[2:]})
    return tmp_path / "corpus"


def test_round_trip_and_summary(folder: Path) -> None:
    assert list(read_pairs(folder / "train.jsonl")) == PAIRS
    assert list(read_pairs(folder / "dev.jsonl")) == PAIRS[2:]
    lines = (folder / "train.jsonl").read_bytes().split(b"\n")
    assert len(lines) == len(PAIRS) + 1
    assert "日本語".encode() in lines[2]
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["source"] == "snli"
    assert summary["splits"]["train"] == {
        **{"pairs": 4, "labeled": 3, "unlabeled": 1},
        **{"neutral": 2, "entailment": 0, "contradiction": 1},
    }


def test_files_of_an_earlier_run_are_removed_also_on_failure(folder: Path) -> None:
    write_splits(folder, "snli", {"train": PAIRS})
    assert sorted(path.name for path in folder.iterdir()) == ["summary.json", "train.jsonl"]

    def broken() -> Iterator[Pair]:
        yield PAIRS[0]
        raise DataError("the source broke")

    with pytest.raises(DataError, match="the source broke"):
        write_splits(folder, "snli", {"train": PAIRS, "dev": broken()})
    assert not folder.exists()


def check(fields: dict[str, Any]) -> Pair:
    return checked_pair(Row("some.jsonl, line 17", 17, fields))


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        *(
            ("pairID", name, "must be a name of print")
            for name in (" ", "a\tb", "a\nb", "a\u202eb")
        ),
        ("pairID", 7, "must be text"),
        ("gold_label", "maybe", "must be 'neutral', "),
        ("gold_label", None, "must be 'neutral'"),
        ("sentence1", "\ud83d", "must be text"),
        ("sentence2_binary_parse", 3, "must be text"),
        ("reasoning_depth", True, "must be a whole"),
        ("reasoning_depth", -1, "must be at least 0"),
    ],
)
def test_invalid_values(key: str, value: object, problem: str) -> None:
    with pytest.raises(DataError) as error:
        check(GOOD | {key: value})
    assert str(error.value).startswith(f"some.jsonl, line 17: {key} is {value!r}; {problem}")


def test_missing_keys_and_other_keys() -> None:
    with pytest.raises(DataError, match=r"^some\.jsonl, line 17: sentence2 is missing$"):
        check({key: value for key, value in GOOD.items() if key != "sentence2"})
    others = {"sentence1_parse": "(ROOT a)", "annotator_labels": ["neutral"], "captionID": "c"}
    assert list(check(others | GOOD).items()) == list(GOOD.items())
