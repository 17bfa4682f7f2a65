"""Archives in the layout of SNLI and of GloVe, of any size, to measure the data stages on.

Nothing in them means anything: words are syllables, their frequencies follow Zipf's law, and
labels are drawn. Lengths, the size of the vocabulary and the bytes of a line are like SNLI's, for
these are what the stages spend their time on. The same arguments give the same bytes.
"""

import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate, pairwise, product
from pathlib import Path
from typing import IO

import numpy as np

from actmodels.data.labels import LABELS
from actmodels.files import replacing
from pipeline.sources.jsonl import UNLABELLED

FOLDER = "snli_1.0"
VECTORS_MEMBER = "vectors.txt"
DISTINCT_WORDS = 37_000
PREMISE_TOKENS, HYPOTHESIS_TOKENS = (14.1, 6.0), (7.8, 3.0)  # mean, standard deviation
UNLABELLED_SHARE = 0.002  # of the pairs; in SNLI's train split 0.0014, in dev and test 0.017
# Tokens that stand against the word before them, by rank. The last makes 3 % of the sentences slow
# to tokenise; in SNLI quotation marks and full stops inside sentences do that to about 1 %.
MARKS = {12: ",", 30: "'s", 45: ";"}
SYLLABLES = ["".join(letters) for letters in product("bdfgklmnprstvz", "aeiou", "dklmnrst")]
BLOCK_PREMISES = 2_000
BLOCK_LINES = 512
NUMBERS = 50_000  # distinct ones in a file of vectors


def write_corpus(archive: Path, pairs: Mapping[str, int], seed: int = 0) -> None:
    """Write a zip as SNLI's: one jsonl file for each split, parse trees and all.

    Args:
        pairs: labelled pairs of each split; unlabelled ones come on top. Three share a premise.
    """
    with _new_zip(archive) as opened:
        for number, (split, count) in enumerate(pairs.items()):
            with _member(opened, f"{FOLDER}/snli_1.0_{split}.jsonl") as out:
                for block in _blocks(count, np.random.default_rng((seed, number))):
                    out.write(block)


def write_vectors(archive: Path, words: int, dimensions: int, seed: int = 0) -> None:
    """Write a zip with one file in GloVe's text format: `word number number ...`.

    The words of `write_corpus` come first, without each twenty-fifth, which has no vector.
    """
    rng = np.random.default_rng(seed)
    numbers = [f"{number:.5g}" for number in rng.normal(0, 0.4, NUMBERS)]
    with _new_zip(archive) as opened, _member(opened, VECTORS_MEMBER) as out:
        for first in range(0, words, BLOCK_LINES):
            ranks = range(first, min(first + BLOCK_LINES, words))
            starts = rng.integers(0, NUMBERS - dimensions, len(ranks)).tolist()
            lines = [
                f"{_word(rank)} {' '.join(numbers[start : start + dimensions])}\n"
                for rank, start in zip(ranks, starts, strict=True)
                if rank % 25 != 24
            ]
            out.write("".join(lines).encode())


def _word(rank: int) -> str:
    """The token of a rank, the most frequent first; two ranks never have the same one."""
    if rank in MARKS:
        return MARKS[rank]
    word = SYLLABLES[rank % len(SYLLABLES)]
    while rank := rank // len(SYLLABLES):
        rank -= 1  # else two numbers of syllables would have a word in common
        word = SYLLABLES[rank % len(SYLLABLES)] + word
    return word


class _Sentences:
    """Sentences drawn word by word: no grammar, but lengths and frequencies of English."""

    def __init__(self) -> None:
        words = [_word(rank) for rank in range(DISTINCT_WORDS)]
        self._words = words
        self._spaced = [w if rank in MARKS else f" {w}" for rank, w in enumerate(words)]
        self._leaves = [f"(NP (NN {word}))" for word in words]
        weights = 1 / np.arange(1, DISTINCT_WORDS + 1)
        self._cumulative = np.cumsum(weights / weights.sum())

    def draw(
        self, count: int, tokens: tuple[float, float], rng: np.random.Generator
    ) -> Iterator[tuple[str, str, str]]:
        """Sentences of this mean and standard deviation of tokens, each with its two parses."""
        mean, spread = tokens
        # a gamma distribution: above 0 and with a long tail, as lengths are
        lengths = rng.gamma((mean / spread) ** 2, spread**2 / mean, count).round().astype(int)
        inner = np.maximum(lengths - 1, 1).tolist()  # one token is the full stop
        ranks = np.searchsorted(self._cumulative, rng.random(sum(inner))).tolist()
        for start, end in pairwise(accumulate(inner, initial=0)):
            yield self._rendered(ranks[start:end])

    def _rendered(self, ranks: list[int]) -> tuple[str, str, str]:
        text = "".join([self._spaced[rank] for rank in ranks]).lstrip()
        binary = " ( ".join([self._words[rank] for rank in ranks])
        tree = " ".join([self._leaves[rank] for rank in ranks])
        closing = " )" * (len(ranks) + 1)
        return (
            f"{text[0].upper()}{text[1:]}.",
            f"( ( {binary}{closing} .",
            f"(ROOT (S {tree} (. .)))",
        )


def _blocks(pairs: int, rng: np.random.Generator) -> Iterator[bytes]:
    """The lines of a split in blocks, until it has that many labelled pairs."""
    sentences = _Sentences()
    for first in range(0, pairs, BLOCK_PREMISES * len(LABELS)):
        labelled = min(BLOCK_PREMISES * len(LABELS), pairs - first)
        labels = rng.permuted(np.tile(LABELS, (BLOCK_PREMISES, 1)), axis=1).ravel()[:labelled]
        spoiled = rng.random(labelled) < UNLABELLED_SHARE
        hypotheses = sentences.draw(labelled + int(spoiled.sum()), HYPOTHESIS_TOKENS, rng)
        premises = sentences.draw(-(-labelled // len(LABELS)), PREMISE_TOKENS, rng)
        lines, premise = [], ("", "", "")
        for number, (label, extra) in enumerate(
            zip(labels.tolist(), spoiled.tolist(), strict=True)
        ):
            if number % len(LABELS) == 0:
                premise = next(premises)
            caption = f"{(first + number) // len(LABELS)}.jpg#0"
            for given in (label, UNLABELLED) if extra else (label,):
                pair_id = f"{caption}r{number % len(LABELS)}{given[0]}"
                lines.append(_line(caption, pair_id, given, premise, next(hypotheses)))
        yield "".join(lines).encode()


def _line(
    caption: str,
    pair_id: str,
    label: str,
    premise: tuple[str, str, str],
    hypothesis: tuple[str, str, str],
) -> str:
    """A pair with the keys of SNLI, in its order."""
    row: dict[str, object] = {
        "annotator_labels": [label],
        "captionID": caption,
        "gold_label": label,
        "pairID": pair_id,
    }
    for key, (text, binary, tree) in {"sentence1": premise, "sentence2": hypothesis}.items():
        row |= {key: text, f"{key}_binary_parse": binary, f"{key}_parse": tree}
    return json.dumps(row) + "\n"


@contextmanager
def _new_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        yield archive


@contextmanager
def _member(archive: zipfile.ZipFile, name: str) -> Iterator[IO[bytes]]:
    info = zipfile.ZipInfo(name)  # dated 1980, whenever it is written
    info.compress_type = zipfile.ZIP_DEFLATED
    # the fastest: level 6 takes three times as long
    info._compresslevel = 1  # type: ignore[attr-defined]
    with archive.open(info, "w", force_zip64=True) as out:
        yield out
