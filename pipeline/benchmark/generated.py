"""Archives in the layout of SNLI and of GloVe, of any size, to measure the data stages on.

Nothing in them means anything: pairs are those of pipeline.benchmark.work, words are syllables.
Lengths, the size of the vocabulary and the bytes of a line are like SNLI's, for these are what the
stages spend their time on. The same arguments give the same bytes.
"""

import json
import zipfile
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path

import torch
from torch import Tensor

from actmodels.data.labels import LABELS
from actmodels.data.pairs import FIRST_WORD
from pipeline.benchmark.work import WORDS, drawn_pairs

FOLDER = "snli_1.0"
VECTORS_MEMBER = "vectors.txt"
# Tokens that stand against the word before them, by rank. The last makes 3 % of the sentences slow
# to tokenise; in SNLI quotation marks and full stops inside sentences do that to about 1 %.
MARKS = {12: ",", 30: "'s", 45: ";"}
SYLLABLES = ["".join(letters) for letters in product("bdfgklmnprstvz", "aeiou", "dklmnrst")]
NUMBERS = 50_000  # distinct ones in a file of vectors


def write_corpus(archive: Path, pairs: Mapping[str, int]) -> None:
    """Write a zip as SNLI's: one jsonl file for each split.

    Args:
        pairs: of each split; all labelled. Three share a premise.
    """
    words = [word(rank) if rank in MARKS else f" {word(rank)}" for rank in range(WORDS)]
    # level 6 takes three times as long
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as opened:
        for seed, (split, count) in enumerate(pairs.items()):
            drawn = drawn_pairs(count, WORDS, seed)
            premise = reader(drawn.premise_ids, drawn.premise_offsets, words)
            hypothesis = reader(drawn.hypothesis_ids, drawn.hypothesis_offsets, words)
            member = f"{FOLDER}/snli_1.0_{split}.jsonl"
            with opened.open(member, "w", force_zip64=True) as out:
                for row, label in enumerate(drawn.labels.tolist()):
                    pair = line(row, LABELS[label], premise(row - row % 3), hypothesis(row))
                    out.write(pair.encode())


def write_vectors(archive: Path, words: int, dimensions: int) -> None:
    """Write a zip with one file in GloVe's text format; the words of `write_corpus` come first."""
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randn(NUMBERS, generator=generator).tolist()
    numbers = [f"{0.4 * number:.5g}" for number in drawn]
    starts = torch.randint(NUMBERS - dimensions, (words,), generator=generator).tolist()
    with (
        zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as opened,
        opened.open(VECTORS_MEMBER, "w", force_zip64=True) as out,
    ):
        for rank, start in enumerate(starts):
            row = " ".join(numbers[start : start + dimensions])
            out.write(f"{word(rank)} {row}\n".encode())


def word(rank: int) -> str:
    """The token of a rank, the most frequent first; two ranks never have the same one."""
    if rank in MARKS:
        return MARKS[rank]
    found = SYLLABLES[rank % len(SYLLABLES)]
    while rank := rank // len(SYLLABLES):
        rank -= 1  # else two numbers of syllables would have a word in common
        found = SYLLABLES[rank % len(SYLLABLES)] + found
    return found


def reader(ids: Tensor, offsets: Tensor, words: list[str]) -> Callable[[int], str]:
    """Gives the sentence of a row; its last token is a full stop."""
    starts = offsets.tolist()

    def sentence(row: int) -> str:
        inner = ids[starts[row] : max(starts[row] + 1, starts[row + 1] - 1)] - FIRST_WORD
        text = "".join([words[rank] for rank in inner.tolist()])
        return f"{text.lstrip().capitalize()}."

    return sentence


def line(row: int, label: str, premise: str, hypothesis: str) -> str:
    """A pair with the keys of SNLI, in its order; parses are of the length of SNLI's."""
    caption = f"{row // 3}.jpg#0"
    pair: dict[str, object] = {
        "annotator_labels": [label],
        "captionID": caption,
        "gold_label": label,
        "pairID": f"{caption}r{row % 3}{label[0]}",
    }
    for key, text in {"sentence1": premise, "sentence2": hypothesis}.items():
        pair |= {
            key: text,
            f"{key}_binary_parse": text.replace(" ", " ) ( "),
            f"{key}_parse": text.replace(" ", ")) (PP (NP (NN "),
        }
    return json.dumps(pair) + "\n"
