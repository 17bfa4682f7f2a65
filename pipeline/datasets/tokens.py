"""Read and write the files of stage `vocabulary`: tokenized pairs and word counts.

words.tsv has one `word<TAB>count` line per word, sorted by frequency; the word on line i (from 0)
has token id FIRST_WORD + i.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pipeline.datasets.text_lines import write_lines


class TokenPair(NamedTuple):
    """A tokenized, labeled pair; trees as in pipeline.datasets.tokenizer, None without parses."""

    pair_id: str
    label: str
    depth: int
    premise: list[str]
    hypothesis: list[str]
    premise_tree: Sequence[int] | None = None
    hypothesis_tree: Sequence[int] | None = None


def write_token_pairs(path: Path, pairs: Iterable[TokenPair]) -> None:
    """Write one tab-separated pair per line; tokens are separated by single spaces."""

    def row(pair: TokenPair) -> str:
        lists = (" ".join(map(str, part)) for part in pair[3:] if part is not None)
        return "\t".join([pair.pair_id, pair.label, str(pair.depth), *lists])

    write_lines(path, map(row, pairs))


def read_token_pairs(path: Path) -> Iterator[TokenPair]:
    """Yield the pairs of a file of `write_token_pairs`."""
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            pair_id, label, depth, *lists = line.rstrip("\n").split("\t")
            premise, hypothesis, *trees = (part.split(" ") for part in lists)
            numbers = ([*map(int, tree)] for tree in trees)
            yield TokenPair(pair_id, label, int(depth), premise, hypothesis, *numbers)


def read_counts(path: Path) -> list[tuple[str, int]]:
    """Return words with their counts in file order."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        rows = [line.split("\t") for line in lines]
    return [(word, int(count)) for word, count in rows]


def read_words(path: Path) -> list[str]:
    """Return the words in file order."""
    return [word for word, _ in read_counts(path)]


def write_words(path: Path, counts: Iterable[tuple[str, int]]) -> None:
    """Write (word, count) pairs in this order."""
    write_lines(path, (f"{word}\t{count}" for word, count in counts))
