"""Read the rows of JSON, a delimited table, Parquet or Arrow, one after the other.

The content decides the format, because suffixes may lie. The readers are those of Python and
pyarrow: pandas pads short rows, cuts long ones, and reads the id 7 as 7.0. Of 56,476 real pairs of
SNLI, none differs between JSON lines, CSV, and TSV with and without quotes. JSON has an object a
line, an array, or objects over several lines.
"""

import io
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from actmodels.errors import DataError
from actmodels.files import regular
from pipeline.datasets.archive import columnar_format, foreign, named, open_member, other_format
from pipeline.datasets.delimited import csv_dialect, table_rows
from pipeline.datasets.text_lines import (
    Lines,
    Row,
    RowError,
    Rows,
    column_key,
    decoded,
    numbered_lines,
    text_of,
)
from pipeline.parameters.labels import ClassName, label_name

JSON = re.compile(r"\.(jsonl?|ndjson)\b", re.I)  # in a name: a first line that is none is an error
OLD_MAC = re.compile(rb"[^\n]*\r[^\n]*")
KEY = "corpus.files"
SAVE = "save it as CSV in UTF-8, JSON lines or Parquet"
START = re.compile(rb"(\xef\xbb\xbf)?\s*[{[]")
LAST_COMMA = re.compile(r",?\s*(?=[]}])")
VISIBLE = re.compile(r"\S")


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


class Duplicate(dict[str, Any]):
    """A JSON object with a duplicate key, which matters only in objects that are read."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    return fields if len(fields) == len(pairs) else Duplicate(fields)


DECODER = json.JSONDecoder(object_pairs_hook=_unique)


def json_row(line: bytes, where: str, number: int) -> Row | RowError:
    """Parse the JSON object of a line."""
    try:
        return _row(DECODER.decode(text_of(line, where)), where, number)
    except RowError as error:
        return error
    except (ValueError, RecursionError) as error:
        return _not_json(error, where)


def json_rows(stream: BinaryIO, lines: Callable[[], Lines], source: str) -> Rows:
    """Yield the rows of a stream, whose first `lines` show whether each line is an object.

    Raises:
        DataError: a text that is not an object a line is not JSON, or has no rows.
    """
    try:
        first = [line for _, line in islice((line for line in lines() if line[1].strip()), 2)]
    except DataError:  # a long line, of a text in one line
        first = []
    if first and not any(map(START.match, first)):
        advice = "if it is a table, name it .csv or .tsv"
        raise DataError(f"{source} has no JSON in its first lines; {advice}")
    if len(first) == 2 and not first[0].lstrip().startswith(b"[") and any(map(_is_object, first)):
        for number, line in numbered_lines(stream, source):
            if line.strip():
                yield json_row(line, f"{source}, line {number}", number)
        return
    values = list(_values(decoded(stream.read(), source).removeprefix("\ufeff"), source))
    if len(values) == 1 and (items := _items(values[0][1], source)) is not None:
        for number, item in enumerate(items, start=1):
            yield _row(item, f"{source}, item {number}", number)
    else:
        for number, value in values:
            yield _row(value, f"{source}, line {number}", number)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _values(text: str, source: str) -> Iterator[tuple[int, Any]]:
    """Yield the values of a text, with their first lines."""
    at, line = 0, 1
    while start := VISIBLE.search(text, at):
        line += text.count("\n", at, start.start())
        try:
            value, at = DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError) as error:
            raise _not_json(error, source, line) from None
        yield line, value
        line += text.count("\n", start.start(), at)


def _items(value: Any, source: str) -> list[Any] | None:
    """Return the rows of an array, or of the only list of objects in an object; None for a row."""
    if isinstance(value, list):
        return value
    parts = [*value.values()] if isinstance(value, dict) else []
    lists = [part for part in parts if isinstance(part, list) and part and type(part[0]) is dict]
    if len(lists) == 1:
        return lists[0]
    if parts and all(isinstance(part, list | dict) for part in parts):
        problem = "is one JSON object without a list of rows"
        advice = "expected a list of objects, or an object a line (pandas: orient='records')"
        raise DataError(f"{source} {problem}; {advice}")
    return None


def _not_json(error: Exception, where: str, line: int | None = None) -> RowError:
    """Return the error of a value; `line` is its first one in a text of several."""
    if isinstance(error, RecursionError):
        problem = "JSON nested too deeply"
    elif isinstance(error, json.JSONDecodeError):
        text, reason, line = (
            error.doc,
            f"{error.msg} at column {error.colno}",
            line and error.lineno,
        )
        comma = LAST_COMMA.match(text, error.pos)
        if comma and text[: comma.end()].rstrip().endswith(","):
            line = line and 1 + text.count("\n", 0, comma.end())
            reason = f"a comma before {text[comma.end()]}"
        problem = f"not JSON ({reason})"
    else:  # thousands of digits
        problem = f"not JSON ({str(error).partition(';')[0]})"
    return RowError(f"{where}, line {line}" if line else where, problem, "not JSON")


def _row(value: Any, where: str, number: int) -> Row | RowError:
    if type(value) is dict:
        return Row(where, number, value)
    got = "one with a duplicate key" if isinstance(value, dict) else f"a {type(value).__name__}"
    return RowError(where, f"expected a JSON object; got {got}", "no JSON object")
