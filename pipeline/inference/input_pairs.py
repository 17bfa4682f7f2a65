"""Read sentence pairs from a file or standard input, each with its location."""

import csv
import io
import json
import math
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

from actmodels.errors import DataError
from pipeline.datasets.text_lines import decoded, numbered_lines, unique_keys

KEYS = ("premise", "hypothesis")
SNLI_KEYS = ("sentence1", "sentence2")  # as in SNLI and the corpus artifact
STANDARD_INPUT = "standard input"


class InputPair(NamedTuple):
    """An input row with one pair.

    where: file and line, for messages. fields: all fields in their order.
    keys: names of the fields with premise and hypothesis, KEYS or SNLI_KEYS.
    """

    where: str
    fields: dict[str, Any]
    keys: tuple[str, str] = KEYS


def read_file(path: Path) -> Iterator[InputPair]:
    """Yield the pairs of a .jsonl or .csv file.

    Raises:
        DataError: the file is missing or has another suffix, or a line is not a pair.
    """
    readers = {".jsonl": read_lines, ".csv": read_csv}
    if path.suffix not in readers:
        raise DataError(f"{path}: expected a file named *.jsonl or *.csv, or - for standard input")
    try:
        with path.open("rb") as file:
            yield from readers[path.suffix](file, str(path))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error


def read_lines(file: BinaryIO, source: str = STANDARD_INPUT) -> Iterator[InputPair]:
    """Yield the pairs of lines: a JSON object, or premise, tab, hypothesis."""
    for where, line in _text_lines(file, source):
        if line.lstrip().startswith("{"):
            fields = _json_object(line, where)
            yield InputPair(where, fields, _sentence_keys(fields, where, "keys"))
        elif line.strip():
            sentences = line.rstrip("\r\n").split("\t")
            if len(sentences) != len(KEYS):
                expected = "expected a JSON object, or premise, tab, hypothesis"
                raise DataError(f"{where}: {expected}; got {len(sentences)} fields")
            yield InputPair(where, dict(zip(KEYS, sentences, strict=True)))


def read_csv(file: BinaryIO, source: str) -> Iterator[InputPair]:
    """Yield the rows of a table whose first line names the columns."""
    text = io.StringIO("".join(line for _, line in _text_lines(file, source)), newline="")
    rows = csv.reader(text, strict=True)
    try:
        header = next(rows, [])
        keys = _sentence_keys(header, f"{source}, line 1", "columns")
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


def _text_lines(file: BinaryIO, source: str) -> Iterator[tuple[str, str]]:
    """Yield the location and the text of each line, without the byte order mark."""
    for number, line in numbered_lines(file, source):
        where = f"{source}, line {number}"
        text = decoded(line, where)
        yield where, text.removeprefix("\ufeff") if number == 1 else text


def _json_object(line: str, where: str) -> Any:
    try:
        return json.loads(
            line, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=unique_keys
        )
    except json.JSONDecodeError as error:
        raise DataError(f"{where}: not JSON ({error.msg} at column {error.pos + 1})") from error
    except ValueError as error:  # NaN, a duplicate key, or thousands of digits
        raise DataError(f"{where}: not JSON ({str(error).partition(';')[0]})") from error
    except RecursionError as error:
        raise DataError(f"{where}: JSON nested too deeply") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number in JSON")


def _finite(number: str) -> float:
    return float(number) if math.isfinite(float(number)) else _refuse(number[:40])  # 1e999


def _sentence_keys(names: Collection[str], where: str, kind: str) -> tuple[str, str]:
    """Return the keys of the sentences; `kind` names the keys in messages."""
    present = [key for key in (*KEYS, *SNLI_KEYS) if key in names]
    for keys in (KEYS, SNLI_KEYS):
        if present == [*keys]:
            return keys
    either = " or ".join(f"the {kind} {a!r} and {b!r}" for a, b in (KEYS, SNLI_KEYS))
    # keys of sentences first, because the list is truncated
    listed = ", ".join(map(repr, dict.fromkeys([*present, *names]))) or "nothing"
    raise DataError(f"{where}: expected either {either}; got {listed[:200]}")
