"""Rows of each format and compression, whatever the name; errors name file and line."""

import bz2
import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from actmodels.errors import DataError
from pipeline.datasets.rows import read_rows
from pipeline.datasets.text_lines import RowError
from tests.pipeline.project import make_zip

ROWS = [{"premise": 'a, "b" 5"', "label": "x"}, {"premise": "\u2028é", "label": ""}]
CSV = '\ufeffpremise,label\r\n"a, ""b"" 5""",x\r\n\r\n\u2028é,\r\n'
LINES = "\n\n".join(map(json.dumps, ROWS))


def fields(path: Path, *columns: str, member: str | None = None) -> list[Any]:
    """Return the fields, or the message, of each row."""
    rows = read_rows(path, columns or None, member)
    return [str(row) if isinstance(row, RowError) else row.fields for row in rows]


def zstandard(content: bytes) -> bytes:
    return pa.compress(content, codec="zstd", asbytes=True)


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress, zstandard])
@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        ("p.csv", CSV, [2, 4]),
        ("P.CSV", "sep=;\n" + CSV.replace(",", ";").replace("a;", "a,")[1:], [3, 5]),
        ("excel.csv", ',premise,label,,\n0,"a, ""b"" 5""",x,,\n1,\u2028é,,,\n', [2, 3]),
        ("semicolons.csv", 'premise;label\n"a, ""b"" 5""";x\n\u2028é;\n', [2, 3]),
        ("glue.tsv", 'premise\tlabel\na, "b" 5"\tx\n\n\u2028é\t\n', [2, 4]),
        ("pandas.tsv", 'premise\tlabel\n"a, ""b"" 5"""\tx\n\u2028é\t\n', [2, 3]),
        ("snli_1.0_train.txt", 'premise\tlabel\na, "b" 5"\tx\n\u2028é\t', [2, 3]),
        ("p.jsonl", LINES, [1, 3]),
        ("lines.json", "\ufeff" + LINES.replace("}", ', "x": [{"y": NaN, "y": 1e999}]}'), [1, 3]),
        ("array.jsonl", json.dumps(ROWS), [1, 2]),
        ("lines.csv.gz", LINES, [1, 3]),
    ],
)
def test_text_formats_agree(
    tmp_path: Path, name: str, content: str, lines: list[int], compress: Any
) -> None:
    (tmp_path / name).write_bytes(compress(content.encode()))
    rows = list(read_rows(tmp_path / name))
    assert [{key: row.fields[key] for key in ROWS[0]} for row in rows] == ROWS
    place = "item" if name == "array.jsonl" else "line"
    assert [row.where for row in rows] == [f"{tmp_path / name}, {place} {n}" for n in lines]


@pytest.mark.parametrize(
    ("table", "cells", "note"),
    [
        ('a\tb\n"x ""y"""\t1\n', ['x "y"', "1"], ""),  # doubled marks
        ('a\tb\n"x\ty"\t1\n', ["x\ty", "1"], ""),
        ('a\tb\n"x\ny"\t1\n', ["x\ny", "1"], ""),
        ('"a"\t"b"\n"x"\t"1"\n', ["x", "1"], ""),
        ('a\tb\n"x"\t1\n5" pipe\t2\n', ['"x"', "1", '5" pipe', "2"], ""),  # marks between letters
        ('a\tb\n"x\t1\ny"\t2\nz\t3\n', ['"x', "1", 'y"', "2", "z", "3"], "corpus.files.quotes=f"),
        ('a\tb\n"x"\t1\n', ['"x"', "1"], "corpus.files.quotes=false; true takes them off"),
        ('a\tb\nx" y\t1\n"z\t2\n', ['x" y', "1", '"z', "2"], ""),
    ],
)
def test_quotes_in_tables_with_tabs(
    tmp_path: Path, table: str, cells: list[str], note: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.tsv").write_text(table)
    assert [cell for row in fields(tmp_path / "p.tsv") for cell in row.values()] == cells
    assert (note in capsys.readouterr().err) if note else not capsys.readouterr().err


def test_quotes_by_setting_line_breaks_and_long_cells(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv"
    path.write_text('a\tb\n"x"\t1\n')
    assert [row.fields["a"] for row in read_rows(path, quotes=True)] == ["x"]
    path.write_bytes(b'a,b\r\n1,"c\r\nd"\r\n2,a\rman\r\n' + b"3," + b"word " * 30_000)
    rows = list(read_rows(path))
    assert [(row.fields["b"][:5], row.number) for row in rows] == [
        *(("c\nd", 3), ("a man", 4), ("word ", 5))
    ]


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    late = pa.array([10**8, 10**8], pa.date32())
    table = pa.table({"a": ["A dog runs.", ""], "label": [1, -1], "late": late})
    classes = {"label": {"names": ["x", "y"], "_type": "ClassLabel"}, "a": {"_type": "Value"}}
    hub = table.replace_schema_metadata(
        {"huggingface": json.dumps({"info": {"features": classes}})}
    )
    plain = {"compression": None, "use_dictionary": False, "write_statistics": False}
    pq.write_table(hub, path, write_page_checksum=True, **plain)
    expected = {"a": "A dog runs.", "label": "y", "late": None}
    assert fields(path, "a", "label")[0] == expected
    (tmp_path / "z").write_bytes(gzip.compress(path.read_bytes()))
    assert fields(tmp_path / "z", "a", "label") == [expected, {"a": "", "label": -1, "late": None}]
    with pytest.raises(DataError, match=r"cannot be read as Parquet \(date value out of range\)"):
        fields(path)
    path.write_bytes(path.read_bytes().replace(b"dog", b"cat", 1))
    with pytest.raises(DataError, match=r"cannot be read \(.*CRC checksum verification failed"):
        fields(path, "a")
    pq.write_table(pa.table([["b"], ["c"]], names=["a", "a"]), path)
    with pytest.raises(DataError, match="the schema names a column twice"):
        fields(path)


def test_a_member_of_an_archive(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "p.zip", {"f/a.csv": CSV.encode(), "__MACOSX/._a.csv": b"\0"})
    assert fields(path, member="f/a.csv") == ROWS


@pytest.mark.parametrize(
    ("name", "content", "messages"),
    [
        ("p.jsonl", '{}\n{oops\n[1]\n{"a": 1, "a": 2}\n{}',
         [", line 2: not JSON (Expecting property name enclosed in double quotes at column 2)",
          ", line 3: expected a JSON object; got a list",
          ", line 4: expected a JSON object; got one with a duplicate key"]),
        ("p.jsonl", "oops", [", line 1: not JSON (Expecting value at column 1)"]),
        ("p.jsonl", '{"n": ' + "[" * 100_000, [", line 1: JSON nested too deeply"]),
        ("p.jsonl", '{"n": ' + "9" * 5000, [", line 1: not JSON (Exceeds the limit (4300 digits)"
         " for integer string conversion: value has 5000 digits)"]),
        ("p.json", '[{}, 3]', [", item 2: expected a JSON object; got a int"]),
        ("p.csv", b'a,b\nc\n\xe9,d\n"x"y,z\n1,2,3\ne,f\na,"b',
         [", line 2: 1 fields; the header has 2",
          ", line 3: not UTF-8 (at byte 1); convert the file to UTF-8",
          ", line 4: not CSV (',' expected after '\"')", ", line 5: 3 fields; the header has 2",
          ", line 7: not CSV (unexpected end of data)"]),
        ("p.tsv", b"a\tb\na\tb\tc\n", [", line 2: 3 fields; the header has 2"]),
    ],
)  # fmt: skip
def test_bad_rows_are_errors_with_their_line(
    name: str, content: bytes | str, messages: list[str], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    bad = [row for row in fields(path) if isinstance(row, str)]
    assert bad == [f"{path}{message}" for message in messages]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.csv", b"premise,a,a\n", ", line 1: the header names a column twice: a"),
        ("p.csv", b"a,b\r1,2\r", " is without line feeds; convert its carriage returns"),
        ("p.csv", "a,b\n".encode("utf-16"), " is UTF-16; convert it to UTF-8"),
        ("p.csv", b"PK\3\4\0", " is an archive or a workbook; unpack it, or export it as CSV"),
        ("p.parquet", b"version https://git-lfs.github.com/spec/v1\noid sha256:3f\n",
         " is a Git LFS pointer; run: git lfs pull"),
        ("p.jsonl", b"\n<!DOCTYPE html>\n<html>", " is a web page; sign in or correct its"),
        ("p.json", b"[{}, oops]", ": not JSON (Expecting value at column 6)"),
        ("p.parquet", b"", ": cannot be read as Parquet (Parquet file size is 0 bytes)"),
        ("p.parquet", b"PAR1" + bytes(40) + b"PAR1", ": cannot be read (Couldn't deserialize"),
        ("none.csv", None, ": no such file"),
        ("p.csv", gzip.compress(b"a,b\n1,2\n" * 9999)[:-20], ": cannot be read (Compressed file"),
        ("p.csv", gzip.compress(b"a")[:5] + b"\xff" * 30, ": cannot be read (Error -3 while d"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_read(
    name: str, content: bytes | None, message: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as error:
        fields(tmp_path / name)
    assert str(error.value).startswith(f"{tmp_path}/{name}{message}")
