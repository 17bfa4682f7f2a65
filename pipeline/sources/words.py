"""The vocabulary artefact: one `word<TAB>count` line per word, the most frequent first.

The word on line i (from 0) has token id FIRST_WORD + i.
"""

from collections.abc import Iterable
from pathlib import Path

from actmodels.files import replacing


def read_counts(path: Path) -> list[tuple[str, int]]:
    """Words with how often they occur, in file order."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        rows = [line.split("\t") for line in lines]
    return [(word, int(count)) for word, count in rows]


def read_words(path: Path) -> list[str]:
    """The words alone, in file order."""
    return [word for word, _ in read_counts(path)]


def write_words(path: Path, counts: Iterable[tuple[str, int]]) -> None:
    """Write (word, count) pairs atomically, in the given order."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as out:
        for word, count in counts:
            out.write(f"{word}\t{count}\n")
