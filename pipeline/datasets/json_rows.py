"""Read the rows of JSON: an object a line, an array, or objects over several lines."""

import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, BinaryIO

from actmodels.errors import DataError
from pipeline.datasets.text_lines import (
    Lines,
    Row,
    RowError,
    Rows,
    decoded,
    numbered_lines,
    text_of,
)

START = re.compile(rb"(\xef\xbb\xbf)?\s*[{[]")
LAST_COMMA = re.compile(r",?\s*(?=[]}])")
VISIBLE = re.compile(r"\S")


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
