"""The corpus artifact, and lines of SNLI."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline.datasets.snli import Pair, parse_pair, read_pairs, write_splits

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


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"\xff\xfe\xfa", "not UTF-8"),
        ('{"gold_label": "neutral"', r"not JSON \(.* column 25"),
        ("[" * 100_000, "JSON nested too deeply"),
        ("[1]", "expected a JSON object; got a list"),
        (json.dumps(GOOD)[:-1] + ', "gold_label": "entailment"}', "an object has a duplicate key"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "sentence2"}), "sentence2 is missing"),
        *(
            (json.dumps(GOOD | {"pairID": name}), "pairID is .*; must be a name of printable")
            for name in (" ", "a\tb", "a\0b", "a\nb", "a\u2029b", "a\u202eb")
        ),
        (json.dumps(GOOD | {"pairID": 7}), "pairID is 7; must be text"),
        (json.dumps(GOOD | {"gold_label": "maybe"}), "gold_label is 'maybe'; must be 'neutral', "),
        (json.dumps(GOOD | {"gold_label": None}), "gold_label is None; must be 'neutral'"),
        (json.dumps(GOOD | {"sentence1": "\ud83d"}), r"sentence1 is '\\ud83d'; must be text"),
        (json.dumps(GOOD | {"sentence2_binary_parse": 3}), "sentence2_binary_parse is 3; must be"),
        (json.dumps(GOOD | {"reasoning_depth": True}), "reasoning_depth is True; must be a whole"),
        (json.dumps(GOOD | {"reasoning_depth": -1}), "reasoning_depth is -1; must be at least 0"),
        (json.dumps(GOOD | {"sentence2": " "}), "sentence2 has no words; correct or remove the p"),
    ],
)
def test_malformed_lines(line: str | bytes, problem: str) -> None:
    with pytest.raises(DataError, match=f"^some.jsonl, line 17: .*{problem}"):
        parse_pair(line if isinstance(line, bytes) else line.encode(), "some.jsonl, line 17")


def test_other_keys_of_snli_are_ignored() -> None:
    others = {"sentence1_parse": "(ROOT a)", "annotator_labels": ["neutral"], "captionID": "c"}
    pair = parse_pair(json.dumps(others | GOOD).encode(), "f")
    assert list(pair.items()) == list(GOOD.items())
