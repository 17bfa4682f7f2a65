"""Pairs from files and standard input; a mistake is told with its file, line and key."""

import io
import json
from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline.inference.read import SNLI_KEYS, InputPair, input_rows, read_file


def rows(path: Path, content: bytes | str) -> list[InputPair]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_file(path))


def test_a_table_has_quotes_line_breaks_and_a_mark_of_the_byte_order(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    text = '\ufeffid,premise,hypothesis\r\n1,"a, ""b""","c\nd"\r\n\r\n2,5,\r\n'
    found = rows(path, text)
    assert [row.fields for row in found] == [
        {"id": "1", "premise": 'a, "b"', "hypothesis": "c\nd"},
        {"id": "2", "premise": "5", "hypothesis": ""},
    ]
    assert [row.where for row in found] == [f"{path}, line 3", f"{path}, line 5"]


def test_a_shell_gives_tabs_or_objects() -> None:
    given = b'A man sleeps.\tHe is awake.\r\n\n {"premise": "a\\tb", "hypothesis": "c"}\n'
    found = list(input_rows(io.BytesIO(given)))
    assert [row.fields for row in found] == [
        {"premise": "A man sleeps.", "hypothesis": "He is awake."},
        {"premise": "a\tb", "hypothesis": "c"},
    ]
    assert [row.where for row in found] == ["standard input, line 1", "standard input, line 3"]


def test_keys_of_snli_are_taken_and_kept_line_by_line(tmp_path: Path) -> None:
    snli = {"sentence2": "b", "gold_label": "-", "sentence1": "a"}
    ours = {"premise": "c", "hypothesis": "d"}
    path = tmp_path / "pairs.jsonl"
    found = rows(path, f"{json.dumps(snli)}\n{json.dumps(ours)}\n")
    assert found == [
        InputPair(f"{path}, line 1", snli, SNLI_KEYS),
        InputPair(f"{path}, line 2", ours),
    ]
    (row,) = input_rows(io.BytesIO(json.dumps(snli).encode()))
    assert row.keys == SNLI_KEYS
    path = tmp_path / "pairs.csv"
    found = rows(path, "sentence2,gold_label,sentence1\nb,-,a\n")
    assert found == [InputPair(f"{path}, line 2", snli, SNLI_KEYS)]


GOOD = b'{"premise": "a", "hypothesis": "b"}\n'
EITHER = "expected either the {0} 'premise' and 'hypothesis' or the {0} 'sentence1' and 'sentence2'"
KEYS, COLUMNS = EITHER.format("keys"), EITHER.format("columns")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("p.jsonl", GOOD + b"{oops\n", "p.jsonl, line 2: not JSON (Expecting property name enclosed"
                                       " in double quotes at column 2)"),
        ("p.jsonl", GOOD + b"[1]\n", "p.jsonl, line 2: expected a JSON object, or premise, tab,"
                                     " hypothesis; found 1 fields"),
        ("p.jsonl", b'{"n": ' + b"[" * 100_000, "p.jsonl, line 1: JSON nested too deeply"),
        ("p.jsonl", b'{"n": NaN}', "p.jsonl, line 1: not JSON (NaN is no number there)"),
        ("p.jsonl", b'{"n": {"a": 1, "a": 2}}', "p.jsonl, line 1: not JSON (an object has a key"
                                                " twice)"),
        ("p.jsonl", b'{"n": ' + b"9" * 5000, "p.jsonl, line 1: not JSON (Exceeds the limit (4300"
                                             " digits) for integer string conversion: value has"
                                             " 5000 digits)"),
        ("p.jsonl", b'{"text": "b", "premise": "a"}', f"p.jsonl, line 1: {KEYS};"
                                                      " found 'premise', 'text'"),
        ("p.jsonl", b'{"sentence2": "b", "premise": "a"}', f"p.jsonl, line 1: {KEYS};"
                                                           " found 'premise', 'sentence2'"),
        ("p.jsonl", GOOD + b"\xff\n", "p.jsonl, line 2: not UTF-8 at byte 1 of the line; save it as"
                                      " UTF-8"),
        ("p.csv", b"", f"p.csv, line 1: {COLUMNS}; found nothing"),
        ("p.csv", b"id,sentence1,hypothesis\n", f"p.csv, line 1: {COLUMNS}; found"
                                                " 'hypothesis', 'sentence1', 'id'"),
        ("p.csv", b"premise,a,a,hypothesis\n", "p.csv, line 1: the header names a column twice"),
        ("p.csv", b"premise,hypothesis\na,b\nc\n", "p.csv, line 3: 1 fields; the header has 2"),
        ("p.csv", b'premise,hypothesis\na,"b', "p.csv, line 2: not CSV (unexpected end of data)"),
        ("p.csv", b"premise,hypothesis\na,\xe9\n", "p.csv, line 2: not UTF-8 at byte 3 of the line;"
                                                   " save it as UTF-8"),
        ("p.txt", GOOD, "p.txt: expected a file named *.jsonl or *.csv, or - for standard input"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_by_file_line_and_key(
    name: str, content: bytes, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as raised:
        rows(tmp_path / name, content)
    assert str(raised.value) == f"{tmp_path}/{sentence}"


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.csv: no such file$"):
        list(read_file(tmp_path / "none.csv"))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match=r"folder\.csv: cannot be read \(Is a directory\)$"):
        list(read_file(tmp_path / "folder.csv"))
