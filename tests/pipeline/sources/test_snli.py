"""SNLI read from an archive of the official layout."""

import json
from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline.sources.jsonl import Pair, checked_pair, read_split
from tests.pipeline.sources.zips import make_zip


def row(number: int, label: str) -> dict[str, object]:
    """As SNLI writes it, parse trees and all."""
    return {
        "annotator_labels": [label],
        "captionID": "c",
        "gold_label": label,
        "pairID": f"{number}",
        "sentence1": f"Premise {number}.",
        "sentence1_binary_parse": "( ( Premise ) . )",
        "sentence2": f"Hypothesis {number}.",
        "sentence2_parse": "(ROOT (S .))",
    }


ROWS = [row(1, "neutral"), row(2, "-"), row(3, "entailment"), row(4, "contradiction")]


def archive(tmp_path: Path, *, extra: str = "") -> Path:
    lines = "".join(json.dumps(one) + "\n" for one in ROWS) + extra
    return make_zip(tmp_path / "snli.zip", {"snli_1.0/snli_1.0_dev.jsonl": lines.encode()})


def test_reads_labelled_and_unlabelled_pairs(tmp_path: Path) -> None:
    pairs = list(read_split(archive(tmp_path), "snli_1.0", "dev", expected=3))
    assert pairs[0] == Pair("1", "neutral", "Premise 1.", "Hypothesis 1.", 0)
    assert [pair.label for pair in pairs] == ["neutral", "-", "entailment", "contradiction"]


def test_count_differs(tmp_path: Path) -> None:
    message = (
        r"snli_1\.0_dev\.jsonl in .*snli\.zip: the dev split has 3 labelled pairs, expected 4 "
        r"\(corpus\.snli\.labelled_pairs\.dev\).*corpus\.snli\.labelled_pairs: null"
    )
    with pytest.raises(DataError, match=message):
        list(read_split(archive(tmp_path), "snli_1.0", "dev", expected=4))


def test_count_unchecked(tmp_path: Path) -> None:
    assert len(list(read_split(archive(tmp_path), "snli_1.0", "dev", expected=None))) == 4


def test_malformed_line_is_located(tmp_path: Path) -> None:
    broken = archive(tmp_path, extra='{"gold_label": ')
    with pytest.raises(DataError, match=r"^snli_1\.0/snli_1\.0_dev\.jsonl, line 5: not a JSON"):
        list(read_split(broken, "snli_1.0", "dev", expected=None))


def test_wrong_folder(tmp_path: Path) -> None:
    message = r"no member snli/snli_1\.0_dev\.jsonl \(the nearest are snli_1\.0/snli_1\.0_dev"
    with pytest.raises(DataError, match=message):
        list(read_split(archive(tmp_path), "snli", "dev", expected=None))


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
        checked_pair(line, "some.jsonl, line 17")


def test_other_keys_are_ignored() -> None:
    line = json.dumps(GOOD | {"sentence1_parse": "(ROOT a)", "annotator_labels": ["neutral"]})
    assert checked_pair(line, "f") == Pair("1", "neutral", "a", "b", 0)
