"""Read sentence pairs from a file or standard input, each with its location."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from actmodels.errors import DataError
from pipeline.datasets.rows import Row, json_object, read_rows, text_lines
from pipeline.datasets.text_lines import numbered_lines

KEYS = ("premise", "hypothesis")
SNLI_KEYS = ("sentence1", "sentence2")  # as in SNLI and the corpus artifact
ID_KEYS = ("id", "pairID", "pair_id")
STANDARD_INPUT = "standard input"


class InputPair(NamedTuple):
    """An input row with one pair.

    where: file and line, for messages. fields: all fields in their order.
    keys: names of the fields with premise and hypothesis, KEYS or SNLI_KEYS.
    """

    where: str
    fields: dict[str, Any]
    keys: tuple[str, str] = KEYS

    @property
    def name(self) -> str:
        """Return the id or the line of the pair, empty for a pair of the command line."""
        line = f"line {self.fields['line']}" if "line" in self.fields else ""
        return next((str(self.fields[key]) for key in ID_KEYS if key in self.fields), line)


def read_file(path: Path) -> Iterator[InputPair]:
    """Yield the pairs of a file; a pair without an id gets the field `line`."""
    yield from map(_input_pair, read_rows(path))


def read_lines(file: BinaryIO) -> Iterator[InputPair]:
    """Yield the pairs of standard input: a JSON object a line, or premise, tab, hypothesis."""
    lines = numbered_lines(file, STANDARD_INPUT)
    for where, number, line in text_lines(lines, STANDARD_INPUT):
        if line.lstrip().startswith("{"):
            yield _input_pair(Row(where, number, json_object(line, where)))
        elif line.strip():
            sentences = line.rstrip("\r\n").split("\t")
            if len(sentences) != len(KEYS):
                expected = "expected a JSON object, or premise, tab, hypothesis"
                raise DataError(f"{where}: {expected}; got {len(sentences)} fields")
            yield _input_pair(Row(where, number, dict(zip(KEYS, sentences, strict=True))))


def _input_pair(row: Row) -> InputPair:
    keys = _sentence_keys(row.fields, row.where)
    line = {} if any(key in row.fields for key in ID_KEYS) else {"line": row.number}
    return InputPair(row.where, line | row.fields, keys)


def _sentence_keys(names: Collection[str], where: str) -> tuple[str, str]:
    """Return the keys of the sentences."""
    present = [key for key in (*KEYS, *SNLI_KEYS) if key in names]
    for keys in (KEYS, SNLI_KEYS):
        if present == [*keys]:
            return keys
    either = " or ".join(f"{a!r} and {b!r}" for a, b in (KEYS, SNLI_KEYS))
    # keys of sentences first, because the list is truncated
    listed = ", ".join(map(repr, dict.fromkeys([*present, *names]))) or "nothing"
    raise DataError(f"{where}: expected the columns {either}; got {listed[:200]}")
