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
    "pack", [gzip.compress, bz2.compress, lzma.compress, zstandard, twice, bytes]
)
@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b'\xef\xbb\xbf{"a": "1", "b": "2"}\n'])
def test_a_compressed_file_alone_and_in_an_archive(
    tmp_path: Path, pack: Any, content: bytes
) -> None:
    path = tmp_path / "p.csv"
    path.write_bytes(pack(content))
    archive = make_zip(tmp_path / "p.zip", {"f/a": pack(content), "__MACOSX/._a": b"\0"})
    for found in (rows(path), rows(archive, member="f/a"), rows(archive)):
        assert [row.fields for row in found] == [{"a": "1", "b": "2"}]


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
