"""Sentences to tokens, and the file of tokenised pairs. Each distinct sentence is split once."""

import functools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from nltk.tokenize import NLTKWordTokenizer

from actmodels.errors import ArtefactError, DataError
from actmodels.files import replacing
from pipeline.sources.jsonl import Pair

_tokenizer = NLTKWordTokenizer()


class TokenPair(NamedTuple):
    """A labelled pair after tokenisation."""

    pair_id: str
    label: str
    depth: int
    premise: list[str]
    hypothesis: list[str]


@functools.lru_cache(maxsize=1_000_000)  # a premise of SNLI stands before three hypotheses
def tokenise(sentence: str, lowercase: bool) -> tuple[str, ...]:
    """Split a sentence as the Penn Treebank does (NLTK's word tokeniser, without its data).

    No token holds white space of any kind, not even one that the tokeniser overlooks.
    """
    text = sentence.lower() if lowercase else sentence
    return tuple(part for token in _tokenizer.tokenize(text) for part in token.split())


def tokenise_pair(pair: Pair, lowercase: bool, source: str) -> TokenPair:
    """Tokenise both sentences.

    Raises:
        DataError: a sentence has no token, so nothing could be attended to.
    """
    sentences = {"premise": pair.premise, "hypothesis": pair.hypothesis}
    tokens = {part: list(tokenise(text, lowercase)) for part, text in sentences.items()}
    for part, found in tokens.items():
        if not found:
            raise DataError(
                f"{source}: the {part} of pair {pair.pair_id} has no words; "
                "mend or remove the pair in the corpus"
            )
    return TokenPair(pair.pair_id, pair.label, pair.depth, tokens["premise"], tokens["hypothesis"])


def write_token_pairs(path: Path, pairs: Iterable[TokenPair]) -> None:
    """Write one pair a line, tab-separated, tokens separated by single spaces; atomic."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for pair in pairs:
            sentences = (" ".join(pair.premise), " ".join(pair.hypothesis))
            file.write("\t".join((pair.pair_id, pair.label, str(pair.depth), *sentences)) + "\n")


def read_token_pairs(path: Path) -> Iterator[TokenPair]:
    """Read what `write_token_pairs` wrote.

    Raises:
        ArtefactError: the file is missing or a line is damaged.
    """
    if not path.is_file():
        raise ArtefactError(f"{path} is missing; run: dvc repro vocabulary")
    with path.open(encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            try:
                pair_id, label, depth, premise, hypothesis = line.rstrip("\n").split("\t")
                sentences = (premise.split(" "), hypothesis.split(" "))
                yield TokenPair(pair_id, label, int(depth), *sentences)
            except ValueError as error:
                raise ArtefactError(
                    f"{path}, line {number} is damaged; run: dvc repro -f vocabulary"
                ) from error
