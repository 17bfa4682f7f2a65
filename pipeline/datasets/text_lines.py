"""Files of lines: those that others wrote, read line by line, and our own; JSON in them."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from actmodels.errors import DataError
from actmodels.files import replacing

LONGEST_LINE = 1 << 24  # bytes; a word of GloVe with its 300 numbers has 3,000


def numbered_lines(stream: BinaryIO, source: str) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, line with its newline); DataError for one above LONGEST_LINE."""
    lines = iter(partial(stream.readline, LONGEST_LINE), b"")
    for number, line in enumerate(lines, start=1):
        if len(line) == LONGEST_LINE:
            problem = f"longer than {LONGEST_LINE:,} bytes; expected a file of lines"
            raise DataError(f"{source}, line {number}: {problem}")
        yield number, line


def decoded(line: bytes, where: str) -> str:
    """The text of a line; DataError if it is not UTF-8."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 (at byte {error.start + 1}); convert the file to UTF-8"
        raise DataError(f"{where}: {problem}") from error


def single_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For json: an object, whose last value of a key would win; ValueError for two of one key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a key twice")
    return found


def write_lines(path: Path, lines: Iterable[object]) -> None:
    """Write lines, which end with a line feed, atomically (UTF-8)."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(f"{line}\n" for line in lines)
