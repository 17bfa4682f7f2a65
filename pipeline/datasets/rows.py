"""Read the rows of JSON lines, a JSON array, a delimited table or Parquet, one after the other.

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
from pipeline.datasets.archive import foreign, named, open_member
from pipeline.datasets.delimited import csv_dialect, table_rows
from pipeline.datasets.text_lines import Row, RowError, Rows, decoded, numbered_lines, text_of

JSON = re.compile(r"\.(jsonl?|ndjson)\b", re.I)  # in a name: a first line that is none is an error
OLD_MAC = re.compile(rb"[^\n]*\r[^\n]*")
KEY = "corpus.files"


class Duplicate(dict[str, Any]):
    """A JSON object with a duplicate key, which matters only in objects that are read."""


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
            head = stream.peek(1000)[:1000].removeprefix(b"\xef\xbb\xbf").lstrip()
            if problem := foreign(head):
                raise DataError(f"{source} is {'; '.join(problem)}")
            if head.startswith(b"PAR1") or source.lower().endswith(".parquet"):
                yield from _parquet(stream, source, columns)
            elif head.startswith(b"["):
                items = _json(decoded(stream.read(), source).removeprefix("\ufeff"), source)
                for number, item in enumerate(items, start=1):
                    yield _row(item, f"{source}, item {number}", number)
            elif head.startswith(b"{") or JSON.search(source):
                for number, line in numbered_lines(stream, source):
                    if line.strip():
                        yield json_row(line, f"{source}, line {number}", number)
            elif OLD_MAC.fullmatch(head):
                raise DataError(f"{source} has carriage returns; convert them to line feeds")
            else:
                yield from table_rows(lines(), source, csv_dialect(lines(), source, quotes))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error


def json_row(line: bytes, where: str, number: int) -> Row | RowError:
    """Parse the JSON object of a line."""
    try:
        return _row(_json(text_of(line, where), where), where, number)
    except RowError as error:
        return error


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        problem = f"not JSON ({error.msg} at column {error.colno})"
    except ValueError as error:  # thousands of digits
        problem = f"not JSON ({str(error).partition(';')[0]})"
    except RecursionError:
        problem = "JSON nested too deeply"
    raise RowError(where, problem, "not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    return fields if len(fields) == len(pairs) else Duplicate(fields)


def _row(value: Any, where: str, number: int) -> Row | RowError:
    if type(value) is dict:
        return Row(where, number, value)
    got = "one with a duplicate key" if isinstance(value, dict) else f"a {type(value).__name__}"
    return RowError(where, f"expected a JSON object; got {got}", "no JSON object")


def _parquet(stream: BinaryIO, source: str, columns: Collection[str] | None) -> Iterator[Row]:
    """Yield the rows; numbers of classes become names, which the Hub stores in the schema."""
    from pyarrow import ArrowException  # 0.3 s that other formats do not need
    from pyarrow.parquet import ParquetFile

    on_disk = isinstance(getattr(stream, "raw", None), io.FileIO)  # others seek slowly
    try:
        opened = ParquetFile(
            stream if on_disk else io.BytesIO(stream.read()), page_checksum_verification=True
        )
        names = opened.schema_arrow.names
        if len(set(names)) < len(names):
            raise DataError(f"{source}: the schema names a column twice")
        kept = names if columns is None else [name for name in names if name in columns]
        classes = _class_names(opened.schema_arrow.metadata or {})
        batches, absent = opened.iter_batches(columns=kept), dict.fromkeys(names)
        rows = (row for batch in batches for row in batch.to_pylist())
        for number, fields in enumerate(rows, start=1):
            for name, known in classes.items():
                if type(value := fields.get(name)) is int and 0 <= value < len(known):
                    fields[name] = known[value]
            yield Row(f"{source}, row {number}", number, absent | fields)
    except (ArrowException, OverflowError, ValueError) as error:  # e.g. a date after the year 9999
        raise DataError(f"{source}: cannot be read as Parquet ({error})") from error


def _class_names(metadata: Mapping[bytes, bytes]) -> dict[str, list[str]]:
    """Return the names of the classes of each column with classes."""
    try:
        features = json.loads(metadata.get(b"huggingface", b"{}"))["info"]["features"]
        return {name: feature["names"] for name, feature in features.items() if "names" in feature}
    except (ValueError, LookupError, TypeError, AttributeError):
        return {}
