"""Read pairs from files and standard input; errors name file, line and key."""

import io
import json
from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline.inference.input_pairs import SNLI_KEYS, InputPair, read_file, read_lines


def rows(path: Path, content: bytes | str) -> list[InputPair]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_file(path))


def test_csv_with_quotes_line_breaks_and_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    text = '\ufeffid,premise,hypothesis\r\n1,"a, ""b""","c\nd"\r\n\r\n2,5,\r\n'
    pairs = rows(path, text)
    assert [row.fields for row in pairs] == [
        {"id": "1", "premise": 'a, "b"', "hypothesis": "c\nd"},
        {"id": "2", "premise": "5", "hypothesis": ""},
    ]
    assert [row.where for row in pairs] == [f"{path}, line 3", f"{path}, line 5"]


def test_tabs_and_json_objects_on_standard_input() -> None:
    content = b'A man sleeps.\tHe is awake.\r\n\n {"premise": "a\\tb", "hypothesis": "c"}\n'
    pairs = list(read_lines(io.BytesIO(content)))
    assert [row.fields for row in pairs] == [
        {"premise": "A man sleeps.", "hypothesis": "He is awake."},
        {"premise": "a\tb", "hypothesis": "c"},
    ]
    assert [row.where for row in pairs] == ["standard input, line 1", "standard input, line 3"]


def test_snli_keys_are_recognized_per_line(tmp_path: Path) -> None:
    snli = {"sentence2": "b", "gold_label": "-", "sentence1": "a"}
    ours = {"premise": "c", "hypothesis": "d"}
    path = tmp_path / "pairs.jsonl"
    pairs = rows(path, f"{json.dumps(snli)}\n{json.dumps(ours)}\n")
    assert pairs == [
        InputPair(f"{path}, line 1", snli, SNLI_KEYS),
        InputPair(f"{path}, line 2", ours),
    ]
    (row,) = read_lines(io.BytesIO(json.dumps(snli).encode()))
    assert row.keys == SNLI_KEYS
    path = tmp_path / "pairs.csv"
    pairs = rows(path, "sentence2,gold_label,sentence1\nb,-,a\n")
    assert pairs == [InputPair(f"{path}, line 2", snli, SNLI_KEYS)]


GOOD = b'{"premise": "a", "hypothesis": "b"}\n'
EITHER = "expected either the {0} 'premise' and 'hypothesis' or the {0} 'sentence1' and 'sentence2'"
KEYS, COLUMNS = EITHER.format("keys"), EITHER.format("columns")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("p.jsonl", GOOD + b"{oops\n", "p.jsonl, line 2: not JSON (Expecting property name enclosed"
                                       " in double quotes at column 2)"),
        ("p.jsonl", GOOD + b"[1]\n", "p.jsonl, line 2: expected a JSON object, or premise, tab,"
                                     " hypothesis; got 1 fields"),
        ("p.jsonl", b'{"n": ' + b"[" * 100_000, "p.jsonl, line 1: JSON nested too deeply"),
        ("p.jsonl", b'{"n": NaN}', "p.jsonl, line 1: not JSON (NaN is not a number in JSON)"),
        ("p.jsonl", b'{"n": {"a": 1, "a": 2}}', "p.jsonl, line 1: not JSON (an object has a"
                                                " duplicate key)"),
        ("p.jsonl", b'{"n": ' + b"9" * 5000, "p.jsonl, line 1: not JSON (Exceeds the limit (4300"
                                             " digits) for integer string conversion: value has"
                                             " 5000 digits)"),
        ("p.jsonl", b'{"text": "b", "premise": "a"}', f"p.jsonl, line 1: {KEYS};"
                                                      " got 'premise', 'text'"),
        ("p.jsonl", b'{"sentence2": "b", "premise": "a"}', f"p.jsonl, line 1: {KEYS};"
                                                           " got 'premise', 'sentence2'"),
        ("p.jsonl", GOOD + b"\xff\n", "p.jsonl, line 2: not UTF-8 (at byte 1); convert the file to"
                                      " UTF-8"),
        ("p.csv", b"", f"p.csv, line 1: {COLUMNS}; got nothing"),
        ("p.csv", b"id,sentence1,hypothesis\n", f"p.csv, line 1: {COLUMNS}; got"
                                                " 'hypothesis', 'sentence1', 'id'"),
        ("p.csv", b"premise,a,a,hypothesis\n", "p.csv, line 1: the header names a column twice"),
        ("p.csv", b"premise,hypothesis\na,b\nc\n", "p.csv, line 3: 1 fields; the header has 2"),
        ("p.csv", b'premise,hypothesis\na,"b', "p.csv, line 2: not CSV (unexpected end of data)"),
        ("p.csv", b"premise,hypothesis\na,\xe9\n", "p.csv, line 2: not UTF-8 (at byte 3);"
                                                   " convert the file to UTF-8"),
        ("p.txt", GOOD, "p.txt: expected a file named *.jsonl or *.csv, or - for standard input"),
    ],
)  # fmt: skip
def test_errors_name_file_line_and_key(
    name: str, content: bytes, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as error:
        rows(tmp_path / name, content)
    assert str(error.value) == f"{tmp_path}/{sentence}"


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.csv: no such file$"):
        list(read_file(tmp_path / "none.csv"))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match=r"folder\.csv: cannot be read \(Is a directory\)$"):
        list(read_file(tmp_path / "folder.csv"))
