"""Read and write text files line by line."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from actmodels.errors import DataError
from actmodels.files import replacing

MAX_LINE_BYTES = 1 << 24  # a line of GloVe with 300 numbers has 3,000
NOT_UTF8 = "not UTF-8"  # reason of bad rows


class RowError(DataError):
    """A line or row without valid content; those with the same fault have the same `reason`."""

    def __init__(self, where: str, problem: str, reason: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.where, self.problem, self.reason = where, problem, reason


class Row(NamedTuple):
    """A row of a file.

    where: file and line (Parquet: row), for messages. number: of the line or row, from 1.
    """

    where: str
    number: int
    fields: dict[str, Any]

    def column(self, names: Sequence[str]) -> str | None:
        """Return the first column of these names; case and outer blanks count if both exist."""
        if exact := [name for name in names if name in self.fields]:
            return exact[0]
        similar = {column_key(name): name for name in reversed(self.fields)}
        return next((similar[key] for key in map(column_key, names) if key in similar), None)


def column_key(name: str) -> str:
    """Return the name of a column without case and outer blanks."""
    return name.strip().casefold()


Rows = Iterator[Row | RowError]
Lines = Iterable[tuple[int, bytes]]


def numbered_lines(stream: BinaryIO, source: str) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, line); raise DataError for a line above MAX_LINE_BYTES."""
    lines = iter(partial(stream.readline, MAX_LINE_BYTES), b"")
    for number, line in enumerate(lines, start=1):
        if len(line) == MAX_LINE_BYTES:
            problem = f"longer than {MAX_LINE_BYTES:,} bytes; expected a text file"
            raise DataError(f"{source}, line {number}: {problem}")
        yield number, line


def decoded(line: bytes, where: str) -> str:
    """Return the text of a line; raise RowError if it is not UTF-8."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 (at byte {error.start + 1}); convert the file to UTF-8"
        raise RowError(where, problem, NOT_UTF8) from error


def text_of(line: bytes, where: str) -> str:
    """Return the text of a line without a byte order mark; a carriage return is white space."""
    text = decoded(line, where).removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", " ") if "\r" in text else text


def write_lines(path: Path, lines: Iterable[object]) -> None:
    """Write lines atomically, in UTF-8 with line feeds."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(f"{line}\n" for line in lines)
