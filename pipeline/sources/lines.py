"""Lines of a file that somebody else wrote, each read whole unless it has no end; their JSON."""

from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO

from actmodels.errors import DataError

LONGEST_LINE = 1 << 24  # bytes; a word of GloVe with its 300 numbers has 3,000


def numbered_lines(stream: BinaryIO, source: str) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, line with its newline).

    Raises:
        DataError: a line is longer than that of any file of lines; names it.
    """
    lines = iter(partial(stream.readline, LONGEST_LINE), b"")
    for number, line in enumerate(lines, start=1):
        if len(line) == LONGEST_LINE:
            raise DataError(
                f"{source}, line {number}: longer than {LONGEST_LINE:,} bytes; expected a file of "
                "lines"
            )
        yield number, line


def single_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For json: an object, whose last value of a key would win; ValueError for two of one key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a key twice")
    return found
