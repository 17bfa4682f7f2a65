"""Pairs from a file or standard input, each with its place."""

import csv
import io
import json
import math
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

from actmodels.errors import DataError
from pipeline.datasets.text_lines import numbered_lines, single_keys

KEYS = ("premise", "hypothesis")
SNLI_KEYS = ("sentence1", "sentence2")  # as SNLI and the corpus artifact name them
STANDARD_INPUT = "standard input"


class InputPair(NamedTuple):
    """A pair as it was read.

    where: file and line, for messages. fields: all fields, in their order.
    keys: those of the premise and of the hypothesis, KEYS or SNLI_KEYS.
    """

    where: str
    fields: dict[str, Any]
    keys: tuple[str, str] = KEYS


def read_file(path: Path) -> Iterator[InputPair]:
    """Yield the pairs of a .jsonl or .csv file.

    Raises:
        DataError: the file is missing, of another kind, or a line is not a pair.
    """
    readers = {".jsonl": input_rows, ".csv": csv_rows}
    if path.suffix not in readers:
        raise DataError(f"{path}: expected a file named *.jsonl or *.csv, or - for standard input")
    try:
        with path.open("rb") as file:
            yield from readers[path.suffix](file, str(path))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error


def input_rows(file: BinaryIO, source: str = STANDARD_INPUT) -> Iterator[InputPair]:
    """Yield the pairs of lines: a JSON object, or premise, tab, hypothesis."""
    for where, line in _lines(file, source):
        if line.lstrip().startswith("{"):
            yield _json_row(line, where)
        elif line.strip():
            sentences = line.rstrip("\r\n").split("\t")
            if len(sentences) != len(KEYS):
                raise DataError(
                    f"{where}: expected a JSON object, or premise, tab, hypothesis; "
                    f"found {len(sentences)} fields"
                )
            yield InputPair(where, dict(zip(KEYS, sentences, strict=True)))


def csv_rows(file: BinaryIO, source: str) -> Iterator[InputPair]:
    """Yield the rows of a table whose first line names the columns."""
    text = io.StringIO("".join(line for _, line in _lines(file, source)), newline="")
    rows = csv.reader(text, strict=True)
    try:
        header = next(rows, [])
        keys = _keys(header, f"{source}, line 1", "columns")
        if len(set(header)) < len(header):
            raise DataError(f"{source}, line 1: the header names a column twice")
        for values in rows:
            if not values:
                continue
            where = f"{source}, line {rows.line_num}"
            if len(values) != len(header):
                raise DataError(f"{where}: {len(values)} fields; the header has {len(header)}")
            yield InputPair(where, dict(zip(header, values, strict=True)), keys)
    except csv.Error as error:
        raise DataError(f"{source}, line {rows.line_num}: not CSV ({error})") from error


def _lines(file: BinaryIO, source: str) -> Iterator[tuple[str, str]]:
    """Yield the place of each line, and its text with its end."""
    for number, line in numbered_lines(file, source):
        where = f"{source}, line {number}"
        try:
            # spreadsheets write a byte order mark
            yield where, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{where}: not UTF-8 at byte {error.start + 1} of the line; save it as UTF-8"
            ) from error


def _json_row(line: str, where: str) -> InputPair:
    try:
        fields = json.loads(
            line, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=single_keys
        )
    except json.JSONDecodeError as error:
        raise DataError(f"{where}: not JSON ({error.msg} at column {error.pos + 1})") from error
    except ValueError as error:  # NaN, a key twice, or thousands of digits
        raise DataError(f"{where}: not JSON ({str(error).partition(';')[0]})") from error
    except RecursionError as error:
        raise DataError(f"{where}: JSON nested too deeply") from error
    return InputPair(where, fields, _keys(fields, where, "keys"))


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number there")


def _finite(number: str) -> float:
    return float(number) if math.isfinite(float(number)) else _refuse(number[:40])  # 1e999


def _keys(names: Collection[str], where: str, kind: str) -> tuple[str, str]:
    """Return which of `names` hold the sentences; `kind` is for messages."""
    given = [key for key in (*KEYS, *SNLI_KEYS) if key in names]
    for keys in (KEYS, SNLI_KEYS):
        if given == [*keys]:
            return keys
    either = " or ".join(f"the {kind} {a!r} and {b!r}" for a, b in (KEYS, SNLI_KEYS))
    # those of sentences first, as the list is cut
    found = ", ".join(map(repr, dict.fromkeys([*given, *names]))) or "nothing"
    raise DataError(f"{where}: expected either {either}; found {found[:200]}")
