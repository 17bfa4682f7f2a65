"""The corpus artefact, written and read back, and lines of SNLI, whose keys it has."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline.sources.jsonl import Pair, checked_pair, read_pairs, write_splits

PAIRS = [
    Pair("1#r1n", "neutral", "A man in a café.", "He said “no”.\u2028\tGood\n", 0),
    Pair("2", "-", "", "\\", 0),
    Pair("3", "contradiction", "日本語", "x", 4),
    Pair("4", "neutral", "p", "h"),
]
PARSED = Pair("5", "neutral", "a b", "c", 0, "( a b )", "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_splits(tmp_path / "corpus", "snli", {"train": iter(PAIRS), "dev": PAIRS[2:]})
    return tmp_path / "corpus"


def test_round_trip_with_keys_in_order_and_text_unescaped(folder: Path) -> None:
    assert list(read_pairs(folder / "train.jsonl")) == PAIRS
    assert list(read_pairs(folder / "dev.jsonl")) == PAIRS[2:]
    lines = (folder / "train.jsonl").read_bytes().split(b"\n")
    assert len(lines) == len(PAIRS) + 1
    assert list(json.loads(lines[0])) == ["gold_label", "sentence1", "sentence2", "pairID"]
    assert lines[2].endswith(b', "pairID": "3", "reasoning_depth": 4}')
    assert "日本語".encode() in lines[2]


def test_parses_are_kept_where_there_are_any(tmp_path: Path) -> None:
    write_splits(tmp_path / "corpus", "snli", {"train": [PARSED, PAIRS[3]]})
    assert list(read_pairs(tmp_path / "corpus" / "train.jsonl")) == [PARSED, PAIRS[3]]


def test_summary_counts_each_split(folder: Path) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["source"] == "snli"
    assert summary["splits"]["train"] == {
        **{"pairs": 4, "labelled": 3, "unlabelled": 1},
        **{"neutral": 2, "entailment": 0, "contradiction": 1},
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


GOOD = {"gold_label": "neutral", "sentence1": "a", "sentence2": "b", "pairID": "1"}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("", "not a JSON object"),
        (b"\xff\xfe\xfa", "not a JSON object"),
        ('{"gold_label": "neutral"', r"not a JSON object \(.* column 25"),
        ("[" * 100_000, "not a JSON object"),
        ("[1]", "not a JSON object"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "sentence2"}), "'sentence2' is missing"),
        (json.dumps(GOOD)[:-1] + ', "gold_label": "entailment"}', "an object has a key twice"),
        *(
            (json.dumps(GOOD | {"pairID": f"a{c}b"}), "not of printable letters; expected a name")
            for c in "\t\0\n\x1c\x85\u2029\u202e"
        ),
        (json.dumps(GOOD | {"pairID": " "}), "the pairID ' ' is empty or not"),
        (json.dumps(GOOD | {"reasoning_depth": 10**30}), "reasoning_depth is 1000"),
        (json.dumps(GOOD | {"pairID": 7}), "the key 'pairID' is 7; expected a string"),
        (json.dumps(GOOD | {"gold_label": "maybe"}), "unknown gold_label 'maybe'; expected one of"),
        (json.dumps(GOOD | {"gold_label": None}), "'gold_label' is None; expected a string"),
        (json.dumps(GOOD | {"sentence1": "\ud83d"}), "'sentence1' holds half a character"),
        (json.dumps(GOOD | {"sentence2_binary_parse": 3}), "'sentence2_binary_parse' is 3"),
        (json.dumps(GOOD | {"reasoning_depth": True}), "reasoning_depth is True"),
        (json.dumps(GOOD | {"reasoning_depth": -1}), "reasoning_depth is -1"),
    ],
)
def test_malformed_lines(line: str | bytes, problem: str) -> None:
    with pytest.raises(DataError, match=f"^some.jsonl, line 17: .*{problem}"):
        checked_pair(line, "some.jsonl, line 17")


def test_other_keys_are_ignored() -> None:
    """As SNLI has them, parse trees and all."""
    others = {"sentence1_parse": "(ROOT a)", "annotator_labels": ["neutral"], "captionID": "c"}
    line = json.dumps(GOOD | others)
    assert checked_pair(line, "f") == Pair("1", "neutral", "a", "b", 0)
