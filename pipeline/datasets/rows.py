"""Read the rows of JSON lines, CSV, TSV (each also gzipped) and Parquet, one after the other.

TSV has no quotes, as in GLUE: a quotation mark is a character like any other.
"""

import csv
import gzip
import json
import math
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

from actmodels.errors import DataError
from pipeline.datasets.text_lines import decoded, numbered_lines, unique_keys

PARQUET = ".parquet"


class Row(NamedTuple):
    """A row of a file.

    where: file and line (Parquet: row), for messages. number: of the line or row, from 1.
    """

    where: str
    number: int
    fields: dict[str, Any]


def read_rows(path: Path, columns: Collection[str] | None = None) -> Iterator[Row]:
    """Return the rows of a file; its suffix names the format.

    Args:
        columns: those to read; the others of a Parquet file are None. All by default.

    Raises:
        DataError: the suffix is unknown; while rows are read: the file is missing or corrupt, or a
            line is malformed.
    """
    suffix = Path(path.name.removesuffix(".gz")).suffix
    if suffix not in READERS or path.name.endswith(".parquet.gz"):
        expected = "expected a file named *.jsonl, *.csv, *.tsv, one of these and .gz, or *.parquet"
        raise DataError(f"{path}: {expected}")
    return _read(path, partial(_parquet, columns=columns) if suffix == PARQUET else READERS[suffix])


def _read(path: Path, read: Callable[[BinaryIO, str], Iterator[Row]]) -> Iterator[Row]:
    opened: Any = gzip.open if path.suffix == ".gz" else Path.open
    try:
        with opened(path, "rb") as file:
            yield from read(file, str(path))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (OSError, EOFError, zlib.error) as error:
        reason = str(getattr(error, "strerror", None) or error).partition("\n")[0]
        raise DataError(f"{path}: cannot be read ({reason})") from error


def text_lines(lines: Iterable[tuple[int, bytes]], source: str) -> Iterator[tuple[str, int, str]]:
    """Yield place, number and text of each numbered line, without the byte order mark."""
    for number, line in lines:
        where = f"{source}, line {number}"
        text = decoded(line, where)
        yield where, number, text.removeprefix("\ufeff") if number == 1 else text


def json_object(line: str, where: str) -> dict[str, Any]:
    """Parse a JSON object; raise DataError if it is none, or has a duplicate key or NaN."""
    try:
        parsed = json.loads(
            line, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=unique_keys
        )
    except json.JSONDecodeError as error:
        raise DataError(f"{where}: not JSON ({error.msg} at column {error.pos + 1})") from error
    except ValueError as error:  # NaN, a duplicate key, or thousands of digits
        raise DataError(f"{where}: not JSON ({str(error).partition(';')[0]})") from error
    except RecursionError as error:
        raise DataError(f"{where}: JSON nested too deeply") from error
    if not isinstance(parsed, dict):
        raise DataError(f"{where}: expected a JSON object; got a {type(parsed).__name__}")
    return parsed


def jsonl_rows(lines: Iterable[tuple[int, bytes]], source: str) -> Iterator[Row]:
    """Yield the JSON objects of numbered lines; empty lines are skipped."""
    for where, number, line in text_lines(lines, source):
        if line.strip():
            yield Row(where, number, json_object(line, where))


def _jsonl(file: BinaryIO, source: str) -> Iterator[Row]:
    return jsonl_rows(numbered_lines(file, source), source)


def _table(file: BinaryIO, source: str, **dialect: Any) -> Iterator[Row]:
    """Yield the rows of a table whose first line names the columns."""
    lines = (line for _, _, line in text_lines(numbered_lines(file, source), source))
    rows = csv.reader(lines, strict=True, **dialect)
    try:
        header = next(rows, [])
        if len(set(header)) < len(header):
            raise DataError(f"{source}, line 1: the header names a column twice")
        for values in rows:
            if not values:
                continue
            where = f"{source}, line {rows.line_num}"
            if len(values) != len(header):
                raise DataError(f"{where}: {len(values)} fields; the header has {len(header)}")
            yield Row(where, rows.line_num, dict(zip(header, values, strict=True)))
    except csv.Error as error:
        raise DataError(f"{source}, line {rows.line_num}: not CSV ({error})") from error


def _parquet(file: BinaryIO, source: str, columns: Collection[str] | None) -> Iterator[Row]:
    from pyarrow import ArrowException  # 0.3 s that other formats do not need
    from pyarrow.parquet import ParquetFile

    try:
        opened = ParquetFile(file, page_checksum_verification=True)
        names = opened.schema_arrow.names
        if len(set(names)) < len(names):
            raise DataError(f"{source}: the schema names a column twice")
        kept = names if columns is None else [name for name in names if name in columns]
        batches, absent = opened.iter_batches(columns=kept), dict.fromkeys(names)
        rows = (row for batch in batches for row in batch.to_pylist())
        for number, fields in enumerate(rows, start=1):
            yield Row(f"{source}, row {number}", number, absent | fields)
    except (ArrowException, OverflowError, ValueError) as error:  # e.g. a date after the year 9999
        raise DataError(f"{source}: cannot be read as Parquet ({error})") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number in JSON")


def _finite(number: str) -> float:
    return float(number) if math.isfinite(float(number)) else _refuse(number[:40])  # 1e999


READERS: dict[str, Callable[[BinaryIO, str], Iterator[Row]]] = {
    ".jsonl": _jsonl,
    ".csv": _table,
    ".tsv": partial(_table, delimiter="\t", quoting=csv.QUOTE_NONE),
    PARQUET: partial(_parquet, columns=None),
}
