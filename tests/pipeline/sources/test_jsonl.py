"""The corpus artefact, written and read back."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from actmodels.errors import ArtefactError, DataError
from pipeline.sources.jsonl import Pair, parse_pair, read_pairs, write_pairs

PAIRS = [
    Pair("1#r1n", "neutral", "A man in a café.", "He said “no”.\u2028\tGood\n", 0),
    Pair("2", "-", "", "\\", 0),
    Pair("3", "contradiction", "日本語", "x", 4),
]


def test_round_trip(tmp_path: Path) -> None:
    write_pairs(tmp_path / "new" / "dev.jsonl", iter(PAIRS))
    assert list(read_pairs(tmp_path / "new" / "dev.jsonl")) == PAIRS


def test_keys_in_order_and_text_unescaped(tmp_path: Path) -> None:
    write_pairs(tmp_path / "dev.jsonl", PAIRS)
    lines = (tmp_path / "dev.jsonl").read_bytes().split(b"\n")
    assert len(lines) == len(PAIRS) + 1
    assert list(json.loads(lines[0])) == ["gold_label", "sentence1", "sentence2", "pairID"]
    assert lines[2].endswith(b', "pairID": "3", "reasoning_depth": 4}')
    assert "日本語".encode() in lines[2]


def test_an_error_in_the_source_leaves_no_file(tmp_path: Path) -> None:
    def broken() -> Iterator[Pair]:
        yield PAIRS[0]
        raise DataError("the source broke")

    with pytest.raises(DataError, match="the source broke"):
        write_pairs(tmp_path / "dev.jsonl", broken())
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_file_survives_an_error(tmp_path: Path) -> None:
    write_pairs(tmp_path / "dev.jsonl", PAIRS)
    with pytest.raises(AttributeError):
        write_pairs(tmp_path / "dev.jsonl", iter([PAIRS[0], None]))  # type: ignore[arg-type]
    assert list(read_pairs(tmp_path / "dev.jsonl")) == PAIRS


def test_missing_file_names_its_stage(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match=r"dev\.jsonl is missing.*dvc repro corpus"):
        list(read_pairs(tmp_path / "dev.jsonl"))


def test_error_names_file_and_line(tmp_path: Path) -> None:
    write_pairs(tmp_path / "dev.jsonl", PAIRS)
    with (tmp_path / "dev.jsonl").open("a") as out:
        out.write('{"gold_label": "neutral"\n')
    with pytest.raises(DataError, match=r"dev\.jsonl, line 4: not a JSON object \(.* column 26"):
        list(read_pairs(tmp_path / "dev.jsonl"))


GOOD = {"gold_label": "neutral", "sentence1": "a", "sentence2": "b", "pairID": "1"}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("", "not a JSON object"),
        (b"\xff\xfe\xfa", "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ("[1]", "expected a JSON object, found list"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "sentence2"}), "'sentence2' is missing"),
        (json.dumps(GOOD | {"pairID": 7}), "the key 'pairID' is 7; expected a string"),
        (json.dumps(GOOD | {"gold_label": "maybe"}), "unknown gold_label 'maybe'; expected one of"),
        (json.dumps(GOOD | {"gold_label": None}), "'gold_label' is None; expected a string"),
        (json.dumps(GOOD | {"sentence1": "\ud83d"}), "'sentence1' holds half a character"),
        (json.dumps(GOOD | {"reasoning_depth": True}), "reasoning_depth is True"),
        (json.dumps(GOOD | {"reasoning_depth": -1}), "reasoning_depth is -1"),
    ],
)
def test_malformed_lines(line: str | bytes, problem: str) -> None:
    with pytest.raises(DataError, match=f"^some.jsonl, line 17: .*{problem}"):
        parse_pair(line, "some.jsonl", 17)


def test_other_keys_are_ignored() -> None:
    line = json.dumps(GOOD | {"sentence1_parse": "(ROOT a)", "annotator_labels": ["neutral"]})
    assert parse_pair(line, "f", 1) == Pair("1", "neutral", "a", "b", 0)
