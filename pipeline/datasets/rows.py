"""Read the rows of JSON lines, a JSON array, a delimited table or Parquet, one after the other.

The content decides the compression, the format and the delimiter, because suffixes may lie.
"""

import io
import json
import re
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from lzma import LZMAError
from pathlib import Path
from typing import Any, BinaryIO

from actmodels.errors import DataError
from pipeline.datasets.archive import decompressed, named, open_member
from pipeline.datasets.delimited import csv_dialect, table_rows
from pipeline.datasets.text_lines import (
    Lines,
    Row,
    RowError,
    Rows,
    decoded,
    numbered_lines,
    text_of,
)

JSON = re.compile(r"\.(jsonl?|ndjson)\b", re.I)  # in a name: a first line that is none is an error
FOREIGN = {
    rb"version https://git-lfs": "a Git LFS pointer; run: git lfs pull",
    rb"(?i)<(!doctype )?html": "a web page; sign in or correct its URL, and fetch the file itself",
    rb"PK\x03\x04": "an archive or a workbook; unpack it, or export it as CSV",
    rb"\xff\xfe|\xfe\xff": "UTF-16; convert it to UTF-8",
    rb"[^\n]*\r[^\n]*$": "without line feeds; convert its carriage returns to line feeds",
}


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
    with _opened(path, member, source) as (stream, on_disk):
        head = stream.peek(1000).removeprefix(b"\xef\xbb\xbf").lstrip()
        lines, known = numbered_lines(stream, source), head.startswith(b"PAR1")
        foreign = (text for pattern, text in FOREIGN.items() if re.match(pattern, head))
        if not known and (problem := next(foreign, None)):
            raise DataError(f"{source} is {problem}")
        if known or source.lower().endswith(".parquet"):
            yield from _parquet(stream if on_disk else io.BytesIO(stream.read()), source, columns)
        elif head.startswith(b"["):
            items = _json(decoded(stream.read(), source).removeprefix("\ufeff"), source)
            for number, item in enumerate(items, start=1):
                yield _row(item, f"{source}, item {number}", number)
        elif head.startswith(b"{") or JSON.search(source):
            yield from jsonl_rows(lines, source)
        else:
            texts = (line.decode(errors="replace") for _, line in lines)
            dialect = csv_dialect(texts, source, quotes)
            with _opened(path, member, source) as (again, _):
                yield from table_rows(numbered_lines(again, source), source, dialect)


@contextmanager
def _opened(path: Path, member: str | None, source: str) -> Iterator[tuple[Any, bool]]:
    """Open a file or a member decompressed, and return whether it is a file on the disk."""
    inner = nullcontext(None) if member is None else open_member(path, member, "corpus.files")
    try:
        with path.open("rb") as file, inner as opened:
            stream = decompressed(opened[0] if opened else file)
            yield stream, stream is file
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (OSError, EOFError, zlib.error, LZMAError) as error:
        reason = str(getattr(error, "strerror", None) or error).partition("\n")[0]
        raise DataError(f"{source}: cannot be read ({reason})") from error


def jsonl_rows(lines: Lines, source: str) -> Rows:
    """Yield the JSON objects of numbered lines; empty lines are skipped."""
    for number, line in lines:
        if line.strip():
            yield json_row(line, f"{source}, line {number}", number)


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
    if isinstance(value, dict) and not isinstance(value, Duplicate):
        return Row(where, number, value)
    got = "one with a duplicate key" if isinstance(value, dict) else f"a {type(value).__name__}"
    return RowError(where, f"expected a JSON object; got {got}", "no JSON object")


def _parquet(file: BinaryIO, source: str, columns: Collection[str] | None) -> Iterator[Row]:
    """Yield the rows; numbers of classes become names, which the Hub stores in the schema."""
    from pyarrow import ArrowException  # 0.3 s that other formats do not need
    from pyarrow.parquet import ParquetFile

    try:
        opened = ParquetFile(file, page_checksum_verification=True)
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
