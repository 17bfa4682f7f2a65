"""Read pairs from files and standard input; errors name file, line and key."""

import io
import json
from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline.datasets.rows import Row
from pipeline.inference.input_pairs import SNLI_KEYS, id_of, read_file, read_lines, sentence_keys


def rows(path: Path, content: bytes | str) -> list[Row]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_file(path))


def test_a_pair_has_its_id_or_its_line(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    (pair,) = rows(path, "pairID,premise,hypothesis\n7,a,b\n")
    assert (id_of(pair), list(pair.fields)) == ("7", ["pairID", "premise", "hypothesis"])
    (pair,) = rows(path, 'premise,hypothesis\n"a\n",b\n')
    assert (id_of(pair), list(pair.fields)) == ("line 3", ["line", "premise", "hypothesis"])


def test_tabs_and_json_objects_on_standard_input() -> None:
    content = b'A man sleeps.\tHe is awake.\r\n\n {"premise": "a\\tb", "hypothesis": "c"}\n'
    pairs = list(read_lines(io.BytesIO(content)))
    assert [row.fields for row in pairs] == [
        {"line": 1, "premise": "A man sleeps.", "hypothesis": "He is awake."},
        {"line": 3, "premise": "a\tb", "hypothesis": "c"},
    ]
    assert [id_of(row) for row in pairs] == ["line 1", "line 3"]
    assert [row.where for row in pairs] == ["standard input, line 1", "standard input, line 3"]


def test_snli_keys_are_recognized_per_line(tmp_path: Path) -> None:
    snli = {"sentence2": "b", "gold_label": "-", "sentence1": "a"}
    ours = {"premise": "c", "hypothesis": "d"}
    path = tmp_path / "pairs.jsonl"
    pairs = rows(path, f"{json.dumps(snli)}\n{json.dumps(ours)}\n")
    assert pairs == [
        Row(f"{path}, line 1", 1, {"line": 1} | snli),
        Row(f"{path}, line 2", 2, {"line": 2} | ours),
    ]
    assert [sentence_keys(row) for row in pairs] == [SNLI_KEYS, ("premise", "hypothesis")]


EXPECTED = "expected the columns 'premise' and 'hypothesis' or 'sentence1' and 'sentence2'"


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("p.jsonl", '{"text": "b", "premise": "a"}', f"line 1: {EXPECTED}; got 'premise', 'text'"),
        ("p.csv", "x,sentence1,hypothesis\na,b,c\n", f"line 2: {EXPECTED}; got 'hypothesis', 's"),
    ],
)
def test_rows_that_are_no_pairs(file: str, content: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"^{tmp_path}/{file}, {sentence}"):
        rows(tmp_path / file, content)


def test_a_line_of_standard_input_that_is_no_pair() -> None:
    wording = "standard input, line 1: expected a JSON object, or premise, tab, hypothesis; got 1"
    with pytest.raises(DataError, match=wording):
        list(read_lines(io.BytesIO(b"[1]\n")))
