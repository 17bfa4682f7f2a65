"""Read sentence pairs from a file or standard input, each with its location."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from actmodels.errors import DataError
from pipeline.datasets.rows import Row, json_object, read_rows, text_lines
from pipeline.datasets.text_lines import numbered_lines

KEYS = ("premise", "hypothesis")
SNLI_KEYS = ("sentence1", "sentence2")  # as in SNLI and the corpus artifact
ID_KEYS = ("id", "pairID", "pair_id")
STANDARD_INPUT = "standard input"


def read_file(path: Path) -> Iterator[Row]:
    """Yield the pairs of a file; a pair without an id gets the field `line`."""
    yield from map(_numbered, read_rows(path))


def read_lines(file: BinaryIO) -> Iterator[Row]:
    """Yield the pairs of standard input: a JSON object a line, or premise, tab, hypothesis."""
    lines = numbered_lines(file, STANDARD_INPUT)
    for where, number, line in text_lines(lines, STANDARD_INPUT):
        if line.lstrip().startswith("{"):
            yield _numbered(Row(where, number, json_object(line, where)))
        elif line.strip():
            sentences = line.rstrip("\r\n").split("\t")
            if len(sentences) != len(KEYS):
                expected = "expected a JSON object, or premise, tab, hypothesis"
                raise DataError(f"{where}: {expected}; got {len(sentences)} fields")
            yield _numbered(Row(where, number, dict(zip(KEYS, sentences, strict=True))))


def _numbered(row: Row) -> Row:
    sentence_keys(row)  # reports a row that is not a pair
    if any(key in row.fields for key in ID_KEYS):
        return row
    return row._replace(fields={"line": row.number} | row.fields)


def id_of(row: Row) -> str:
    """Return the id or the line of a pair, empty for a pair of the command line."""
    line = f"line {row.fields['line']}" if "line" in row.fields else ""
    return next((str(row.fields[key]) for key in ID_KEYS if key in row.fields), line)


def sentence_keys(row: Row) -> tuple[str, str]:
    """Return the keys of premise and hypothesis, KEYS or SNLI_KEYS; DataError for other keys."""
    present = [key for key in (*KEYS, *SNLI_KEYS) if key in row.fields]
    for keys in (KEYS, SNLI_KEYS):
        if present == [*keys]:
            return keys
    either = " or ".join(f"{a!r} and {b!r}" for a, b in (KEYS, SNLI_KEYS))
    # keys of sentences first, because the list is truncated
    listed = ", ".join(map(repr, dict.fromkeys([*present, *row.fields]))) or "nothing"
    raise DataError(f"{row.where}: expected the columns {either}; got {listed[:200]}")
