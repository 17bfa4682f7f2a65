"""Rows of each format and compression, whatever the name; errors name file and line."""

import bz2
import csv
import gzip
import io
import json
import lzma
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.feather import write_feather

from actmodels.errors import DataError
from pipeline.datasets.rows import read_rows
from pipeline.datasets.text_lines import RowError
from tests.pipeline.project import make_zip

ROWS = [{"premise": 'a, "b" 5"', "label": "x"}, {"premise": "\u2028é", "label": ""}]
CSV = '\ufeffpremise,label\r\n"a, ""b"" 5""",x\r\n\r\n\u2028é,\r\n'
LINES = "\n\n".join(map(json.dumps, ROWS))
IGNORED = LINES.replace("}", ', "x": [{"y": NaN, "y": 1e999}]}')


def rows(path: Path, *columns: str, **options: Any) -> list[Any]:
    """Return the rows, and the messages of bad ones and of the file."""
    result: list[Any] = []
    try:
        for row in read_rows(path, columns or None, **options):
            result.append(str(row) if isinstance(row, RowError) else row)
    except DataError as error:
        result.append(str(error))
    return result


def zstandard(content: bytes) -> bytes:
    return pa.compress(content, codec="zstd", asbytes=True)


def twice(content: bytes) -> bytes:
    return gzip.compress(gzip.compress(content))


@pytest.mark.parametrize(
    "pack", [bytes, gzip.compress, bz2.compress, lzma.compress, zstandard, twice]
)
@pytest.mark.parametrize(
    ("name", "content", "numbers"),
    [
        ("p.csv", CSV, [2, 4]),
        ("P.CSV", "sep=;\n" + CSV.replace(",", ";").replace("a;", "a,")[1:], [3, 5]),
        ("excel.csv", ',premise,label,,\n0,"a, ""b"" 5""",x,,\n1,\u2028é,,,\n', [2, 3]),
        ("semicolons.csv", 'premise;label\n"a, ""b"" 5""";x\n\u2028é;\n', [2, 3]),
        ("glue.tsv", 'premise\tlabel\na, "b" 5"\tx\n\n\u2028é\t\n', [2, 4]),
        ("pandas.tsv", 'premise\tlabel\n"a, ""b"" 5"""\tx\n\u2028é\t\n', [2, 3]),
        ("snli_1.0_train.txt", 'premise\tlabel\na, "b" 5"\tx\n\u2028é\t', [2, 3]),
        ("p.jsonl", LINES, [1, 3]),
        ("lines.json", "\ufeff" + IGNORED, [1, 3]),
        ("array.jsonl", json.dumps(ROWS), [1, 2]),
        ("lines.csv.gz", LINES, [1, 3]),
        ("pretty.json", "\n".join(json.dumps(row, indent=1) for row in ROWS), [1, 5]),
        (
            "pretty.jsonl",
            json.dumps({"version": 1, "rows": ROWS, "licenses": ["x"]}, indent=1),
            [1, 2],
        ),
        ("data.json", json.dumps({"data": ROWS}), [1, 2]),
    ],
)
def test_text_formats_agree(
    tmp_path: Path, name: str, content: str, numbers: list[int], pack: Any
) -> None:
    (tmp_path / name).write_bytes(pack(content.encode()))
    archive = make_zip(tmp_path / "p.zip", {"f/a": pack(content.encode()), "__MACOSX/._a": b"\0"})
    for found in (rows(tmp_path / name), rows(archive, member="f/a"), rows(archive)):
        assert [{key: row.fields[key] for key in ROWS[0]} for row in found] == ROWS
        items = name in ("array.jsonl", "pretty.jsonl", "data.json")
        place = "item" if items else "line"
        assert [row.where.rpartition(", ")[2] for row in found] == [f"{place} {n}" for n in numbers]


CELL = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029")
)


class Dialect(csv.excel):
    lineterminator = "\n"


@given(
    table=st.lists(st.tuples(CELL, CELL), min_size=1, max_size=9),
    separator=st.sampled_from(",;\t"),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    pack=st.sampled_from([bytes, gzip.compress, bz2.compress, lzma.compress]),
)
def test_any_table_in_any_dialect_has_the_same_rows(
    tmp_path: Path, table: list[tuple[str, str]], separator: str, quoting: Any, pack: Any
) -> None:
    text = io.StringIO()
    csv.writer(text, Dialect, delimiter=separator, quoting=quoting).writerows([("a", "b"), *table])
    (tmp_path / "p.csv").write_bytes(pack(text.getvalue().encode()))
    (tmp_path / "p.jsonl").write_text(
        "".join(json.dumps(dict(zip("ab", r, strict=True))) + "\n" for r in table)
    )
    found = [tuple(row.fields.values()) for row in rows(tmp_path / "p.csv", quotes=True)]
    assert found == [tuple(row.fields.values()) for row in rows(tmp_path / "p.jsonl")] == table


@pytest.mark.parametrize(
    ("table", "cells", "note"),
    [
        ('a\tb\n"x ""y"""\t1\n', ['x "y"', "1"], ""),  # doubled marks
        ('a\tb\n"x\ty"\t1\n', ["x\ty", "1"], ""),
        ('a\tb\n"x\ny"\t1\n', ["x\ny", "1"], "1 rows have line breaks in cells; the first is l"),
        ('"a"\t"b"\n"x"\t"1"\n', ["x", "1"], ""),
        ('a\tb\n"x"\t1\n5" pipe\t2\n', ['"x"', "1", '5" pipe', "2"], ""),  # marks between letters
        ('a\tb\n"x\t1\ny"\t2\n"z"\t3\n', ['"x', "1", 'y"', "2", '"z"', "3"], ""),
        ('a\tb\n"x\t1\ny"\t2\n"z ""q"""\t3\n', ['"x', "1", 'y"', "2", '"z ""q"""', "3"], ""),
        ('a\tb\n"x"\t1\n', ['"x"', "1"], "corpus.files.quotes=false; true takes them off"),
        ('a\tb\nx" y\t1\n"z\t2\n', ['x" y', "1", '"z', "2"], ""),
        (
            'a,b\r\n"c\r\nd",1\r\na\rman,2\r\n',
            ["c\nd", "1", "a man", "2"],
            "p.tsv: 1 rows have line breaks in cells; the first is line 2",
        ),
        ("# of 2024, ours\n#x\na| b\n1| 2\n", ["1", "2"], ""),
        ('a, b\n1, "2, 3"\n', ["1", "2, 3"], ""),
        ("a ; b\n1 ; 2\n", ["1 ", "2"], ""),
        ("a,b\n1," + "word " * 30_000, ["1", "word " * 30_000], ""),
    ],
)
def test_cells(
    tmp_path: Path, table: str, cells: list[str], note: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.tsv"
    path.write_bytes(table.encode())
    assert [cell for row in rows(path) for cell in row.fields.values()] == cells
    assert (note in capsys.readouterr().err) if note else not capsys.readouterr().err
    if note.endswith("off"):
        assert rows(path, quotes=True)[0].fields["a"] == "x"


@pytest.mark.parametrize("mark", [6, 90])
@pytest.mark.parametrize("quoted", [3, 8, 60])
@pytest.mark.parametrize("separator", [",", "\t"])
def test_an_open_quotation_mark_costs_one_row(
    tmp_path: Path, separator: str, quoted: int, mark: int
) -> None:
    """Whether another cell has quotation marks before it, soon after it, or later."""
    lines = [f"{number}{separator}b" for number in range(1, 91)]
    lines[quoted - 1] = f'"{quoted}"{separator}"b, ""c"""'
    lines[mark - 1] = '"' + lines[mark - 1]
    (tmp_path / "p.csv").write_text("\n".join([f"a{separator}b", *lines[1:]]))
    found = rows(tmp_path / "p.csv", quotes=True)
    errors = [row for row in found if isinstance(row, str)]
    assert [row.fields["a"] for row in found if not isinstance(row, str)] == [
        str(number) for number in range(2, 91) if number != mark
    ]
    assert len(errors) == 1 and errors[0].startswith(f"{tmp_path / 'p.csv'}, line {mark}: not CSV")


def test_a_cell_of_whole_rows_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv"
    path.write_text('a\tb\n"x\t1\ny"\t2\n"z\n"\t3\n')
    error, *found = rows(path, quotes=True)
    assert error.startswith(f"{path}, line 2: not CSV (a quotation mark opens a cell")
    assert [row.fields["a"] for row in found] == ['y"', "z\n"]


def test_parquet_arrow_and_feather(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    late = pa.array([10**8, 10**8], pa.date32())
    table = pa.table({"a": ["A dog runs.", ""], "label": [1, -1], "late": late})
    classes = {"label": {"names": ["x", "y"], "_type": "ClassLabel"}, "a": {"_type": "Value"}}
    hub = table.replace_schema_metadata(
        {"huggingface": json.dumps({"info": {"features": classes}})}
    )
    plain = {"compression": None, "use_dictionary": False, "write_statistics": False}
    pq.write_table(hub, path, write_page_checksum=True, **plain)
    (tmp_path / "z").write_bytes(gzip.compress(path.read_bytes()))
    arrow, feather = tmp_path / "a.csv", tmp_path / "b"
    with pa.ipc.new_stream(arrow, hub.schema) as stream:  # as save_to_disk writes
        stream.write_table(hub)
    write_feather(hub, feather)
    for copy in (path, tmp_path / "z", arrow, feather):
        found = rows(copy, "a", "label")
        assert [row.fields for row in found] == [
            {"a": "A dog runs.", "label": "y", "late": None},
            {"a": "", "label": -1, "late": None},
        ]
    assert rows(path) == [f"{path}: cannot be read as Parquet (date value out of range)"]
    path.write_bytes(path.read_bytes().replace(b"dog", b"cat", 1))
    assert "CRC checksum verification failed" in rows(path, "a")[0]
    pq.write_table(pa.table([["b"], ["c"]], names=["a", "a"]), path)
    assert rows(path) == [f"{path}: the schema names a column twice"]
