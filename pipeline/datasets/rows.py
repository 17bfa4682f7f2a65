"""Read the rows of JSON, a delimited table, Parquet or Arrow, one after the other.

The content decides the format, because suffixes may lie. The readers are those of Python and
pyarrow: pandas pads short rows, cuts long ones, and reads the id 7 as 7.0. Of 56,476 real pairs of
SNLI, none differs between JSON lines, CSV, and TSV with and without quotes.
"""

import io
import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from actmodels.errors import DataError
from actmodels.files import regular
from pipeline.datasets.archive import named, open_member
from pipeline.datasets.classes import ClassName
from pipeline.datasets.delimited import csv_dialect, table_rows
from pipeline.datasets.formats import columnar_format, foreign, other_format
from pipeline.datasets.json_rows import START, json_rows
from pipeline.datasets.json_rows import json_row as json_row
from pipeline.datasets.text_lines import Row, Rows, column_key, numbered_lines
from pipeline.parameters.labels import label_name

JSON = re.compile(r"\.(jsonl?|ndjson)\b", re.I)  # in a name: a first line that is none is an error
OLD_MAC = re.compile(rb"[^\n]*\r[^\n]*")
KEY = "corpus.files"
SAVE = "save it as CSV in UTF-8, JSON lines or Parquet"


def read_rows(
    path: Path,
    columns: Collection[str] | None = None,
    member: str | None = None,
    quotes: bool | None = None,
) -> Rows:
    """Yield the rows of a file, and an error for each malformed one.

    Args:
        columns: those to read; the others of a Parquet file are None. All by default.
        member: of an archive.
        quotes: whether a table with tabs has quotes; None: its content decides.

    Raises:
        DataError: the file is missing, corrupt, or of another format.
    """
    source = named(path, member)

    def lines() -> Iterator[tuple[int, bytes]]:
        with open_member(path, member, KEY) as (stream, _):
            yield from numbered_lines(stream, source)

    try:
        with open_member(regular(path), member, KEY) as (stream, _):
            head = stream.peek(1000)[:1000]
            if problem := foreign(head):
                raise DataError(f"{source} is {'; '.join(problem)}")
            if other := other_format(head):
                raise DataError(f"{source} is {other}; {SAVE}")
            if (kind := columnar_format(head)) or source.lower().endswith(".parquet"):
                yield from _columnar(stream, source, columns, kind or "Parquet")
            elif START.match(head) or JSON.search(source):
                yield from json_rows(stream, lines, source)
            elif OLD_MAC.fullmatch(head):
                raise DataError(f"{source} has carriage returns; convert them to line feeds")
            else:
                yield from table_rows(lines(), source, csv_dialect(lines(), source, quotes))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error


def _columnar(
    stream: BinaryIO, source: str, columns: Collection[str] | None, kind: str
) -> Iterator[Row]:
    """Yield the rows; numbers of classes become names, which the Hub stores in the schema."""
    from pyarrow import ArrowException, ipc  # 0.3 s that other formats do not need
    from pyarrow.parquet import ParquetFile

    on_disk = isinstance(getattr(stream, "raw", None), io.FileIO)  # others seek slowly
    try:
        file = stream if on_disk else io.BytesIO(stream.read())
        table: Any
        if kind == "Parquet":
            table = ParquetFile(file, page_checksum_verification=True)
            schema = table.schema_arrow
        else:
            table = (ipc.open_stream if kind == "Arrow" else ipc.open_file)(file).read_all()
            table.validate(full=True)  # it has no checksum
            schema = table.schema
        names = schema.names
        if len(set(names)) < len(names):
            raise DataError(f"{source}: the schema names a column twice")
        wanted = {*map(column_key, names if columns is None else columns)}
        kept = [name for name in names if column_key(name) in wanted]
        classes, absent = _class_names(schema.metadata or {}), dict.fromkeys(names)
        if kind == "Parquet":
            batches = table.iter_batches(columns=kept)
        else:
            batches = table.select(kept).to_batches()
        rows = (row for batch in batches for row in batch.to_pylist())
        for number, fields in enumerate(rows, start=1):
            for name, known in classes.items():
                of_class = label_name(fields.get(name))
                if of_class.isdigit() and int(of_class) < len(known):
                    fields[name] = ClassName(known[int(of_class)])
                    fields[name].number = of_class
            yield Row(f"{source}, row {number}", number, absent | fields)
    # e.g. a date after the year 9999, or a size of a corrupt file
    except (ArrowException, MemoryError, OverflowError, ValueError) as error:
        raise DataError(f"{source}: cannot be read as {kind} ({error})") from error


def _class_names(metadata: Mapping[bytes, bytes]) -> dict[str, list[str]]:
    """Return the names of the classes of each column with classes."""
    try:
        features = json.loads(metadata.get(b"huggingface", b"{}"))["info"]["features"]
        return {name: feature["names"] for name, feature in features.items() if "names" in feature}
    except (ValueError, LookupError, TypeError, AttributeError):
        return {}
