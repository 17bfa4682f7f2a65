"""Rows of each format; errors name file and line."""

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from actmodels.errors import DataError
from pipeline.datasets.rows import read_rows

ROWS = [{"premise": 'a, "b"', "label": "x"}, {"premise": "\u2028é", "label": ""}]


def write(path: Path, content: bytes | str) -> Path:
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


def fields(path: Path) -> list[dict[str, Any]]:
    return [row.fields for row in read_rows(path)]


@pytest.mark.parametrize("end", ["", ".gz"])
@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        ("csv", '\ufeffpremise,label\r\n"a, ""b""",x\r\n\r\n\u2028é,\r\n'),
        ("tsv", 'premise\tlabel\na, "b"\tx\n\n\u2028é\t\n'),
        (
            "jsonl",
            '{"premise": "a, \\"b\\"", "label": "x"}\n\n{"premise": "\u2028é", "label": ""}\n',
        ),
    ],
)
def test_text_formats_agree(tmp_path: Path, suffix: str, content: str, end: str) -> None:
    path = write(tmp_path / f"p.{suffix}{end}", content)
    rows = list(read_rows(path))
    assert [row.fields for row in rows] == ROWS
    lines = [1, 3] if suffix == "jsonl" else [2, 4]
    assert [row.where for row in rows] == [f"{path}, line {number}" for number in lines]


def test_parquet_has_rows_and_types(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    content = [{"premise": str(number), "label": -1} for number in range(100_000)]
    pq.write_table(pa.Table.from_pylist(content), path, row_group_size=1000)
    rows = list(read_rows(path))
    assert [row.fields for row in rows] == content
    assert rows[-1][:2] == (f"{path}, row 100000", 100_000)


def test_parquet_columns_and_checksums(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    table = pa.table({"a": ["A dog runs."], "late": pa.array([10**8], pa.date32())})
    plain = {"compression": None, "use_dictionary": False, "write_statistics": False}
    pq.write_table(table, path, write_page_checksum=True, **plain)
    assert [row.fields for row in read_rows(path, ["a"])] == [{"a": "A dog runs.", "late": None}]
    with pytest.raises(DataError, match=r"cannot be read as Parquet \(date value out of range\)"):
        fields(path)
    path.write_bytes(path.read_bytes().replace(b"dog", b"cat", 1))
    with pytest.raises(DataError, match=r"cannot be read \(.*CRC checksum verification failed"):
        list(read_rows(path, ["a"]))
    pq.write_table(pa.table([["b"], ["c"]], names=["a", "a"]), path)
    with pytest.raises(DataError, match="the schema names a column twice"):
        fields(path)


def test_a_line_break_in_a_cell(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", 'a,b\n1,"c\nd"\n2,\n')
    assert [(row.fields["b"], row.number) for row in read_rows(path)] == [("c\nd", 3), ("", 4)]


GOOD = b'{"premise": "a"}\n'


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("p.jsonl", GOOD + b"{oops\n", ", line 2: not JSON (Expecting property name enclosed"
                                       " in double quotes at column 2)"),
        ("p.jsonl", GOOD + b"[1]\n", ", line 2: expected a JSON object; got a list"),
        ("p.jsonl", b'{"n": ' + b"[" * 100_000, ", line 1: JSON nested too deeply"),
        ("p.jsonl", b'{"n": NaN}', ", line 1: not JSON (NaN is not a number in JSON)"),
        ("p.jsonl", b'{"n": {"a": 1, "a": 2}}', ", line 1: not JSON (an object has a duplicate"
                                                " key)"),
        ("p.jsonl", b'{"n": ' + b"9" * 5000, ", line 1: not JSON (Exceeds the limit (4300"
                                             " digits) for integer string conversion: value has"
                                             " 5000 digits)"),
        ("p.csv", b"premise,a,a\n", ", line 1: the header names a column twice"),
        ("p.csv", b"premise,b\na,b\nc\n", ", line 3: 1 fields; the header has 2"),
        ("p.tsv", b"premise\tb\na\tb\tc\n", ", line 2: 3 fields; the header has 2"),
        ("p.csv", b'premise,b\na,"b', ", line 2: not CSV (unexpected end of data)"),
        ("p.csv", b"premise,b\na,\xe9\n", ", line 2: not UTF-8 (at byte 3);"
                                          " convert the file to UTF-8"),
        ("p.parquet", b"", ": cannot be read as Parquet (Parquet file size is 0 bytes)"),
        ("p.parquet", b"PAR1" + bytes(40) + b"PAR1", ": cannot be read (Couldn't deserialize"),
        ("p.txt", GOOD, ": expected a file named *.jsonl, *.csv, *.tsv, one of these and .gz, or"
                        " *.parquet"),
        ("p.parquet.gz", GOOD, ": expected a file named *.jsonl, "),
        ("none.csv", None, ": no such file"),
    ],
)  # fmt: skip
def test_errors_name_file_and_line(
    name: str, content: bytes | None, sentence: str, tmp_path: Path
) -> None:
    if content is not None:
        write(tmp_path / name, content)
    with pytest.raises(DataError) as error:
        fields(tmp_path / name)
    assert str(error.value).startswith(f"{tmp_path}/{name}{sentence}")


def test_unreadable_files(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    path = write(tmp_path / "p.csv.gz", "premise\n" + "a\n" * 10_000)
    whole = path.read_bytes()
    damaged = {b"premise\n": "Not a gzipped file", whole[:-20]: "Compressed file ended before",
               whole[:20] + b"\xff" * 20 + whole[40:]: "Error -3 while decompressing"}  # fmt: skip
    for content, reason in damaged.items():
        path.write_bytes(content)
        with pytest.raises(DataError, match=rf"p\.csv\.gz: cannot be read \({reason}"):
            fields(path)
    with pytest.raises(DataError, match=r"folder\.csv: cannot be read \(Is a directory\)$"):
        fields(tmp_path / "folder.csv")
