"""The file of tokenised pairs."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from actmodels.files import replacing


class TokenPair(NamedTuple):
    """A labelled pair after tokenisation."""

    pair_id: str
    label: str
    depth: int
    premise: list[str]
    hypothesis: list[str]


def write_token_pairs(path: Path, pairs: Iterable[TokenPair]) -> None:
    """Write one pair a line, tab-separated, tokens separated by single spaces; atomic."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for pair in pairs:
            sentences = (" ".join(pair.premise), " ".join(pair.hypothesis))
            file.write("\t".join((pair.pair_id, pair.label, str(pair.depth), *sentences)) + "\n")


def read_token_pairs(path: Path) -> Iterator[TokenPair]:
    """Read what `write_token_pairs` wrote."""
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            pair_id, label, depth, premise, hypothesis = line.rstrip("\n").split("\t")
            yield TokenPair(pair_id, label, int(depth), premise.split(" "), hypothesis.split(" "))
