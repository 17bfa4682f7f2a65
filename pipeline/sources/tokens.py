"""What stage `vocabulary` writes: the file of tokenised pairs, and that of the counted words.

words.tsv has one `word<TAB>count` line per word, the most frequent first; the word on line i (from
0) has token id FIRST_WORD + i.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from actmodels.files import replacing, write_text


class TokenPair(NamedTuple):
    """A labelled pair after tokenisation; trees as in pipeline.sources.parses, None without."""

    pair_id: str
    label: str
    depth: int
    premise: list[str]
    hypothesis: list[str]
    premise_tree: Sequence[int] | None = None
    hypothesis_tree: Sequence[int] | None = None


def write_token_pairs(path: Path, pairs: Iterable[TokenPair]) -> None:
    """Write one pair a line, tab-separated, tokens separated by single spaces; atomic."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for pair in pairs:
            sentences = (" ".join(pair.premise), " ".join(pair.hypothesis))
            trees = [" ".join(map(str, tree)) for tree in pair[-2:] if tree is not None]
            row = (pair.pair_id, pair.label, str(pair.depth), *sentences, *trees)
            file.write("\t".join(row) + "\n")


def read_token_pairs(path: Path) -> Iterator[TokenPair]:
    """Read what `write_token_pairs` wrote."""
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            pair_id, label, depth, premise, hypothesis, *trees = line.rstrip("\n").split("\t")
            numbers = ([int(ended) for ended in tree.split(" ")] for tree in trees)
            words = (premise.split(" "), hypothesis.split(" "))
            yield TokenPair(pair_id, label, int(depth), *words, *numbers)


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
    write_text(path, "".join(f"{word}\t{count}\n" for word, count in counts))
