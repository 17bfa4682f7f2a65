"""Encode tokenized pairs as tensors."""

import hashlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch

from actmodels.data.pairs import UNKNOWN, PairTensors
from actmodels.errors import DataError
from pipeline.datasets.tokens import TokenPair

LONGEST_TREE = 32_767  # places of words in a parse are 16-bit numbers


class Encoded(NamedTuple):
    """An encoded split, the ids of its pairs in order, and the number of dropped pairs."""

    tensors: PairTensors
    pair_ids: list[str]
    dropped: int


def as_tensor(values: "array[int]") -> torch.Tensor:
    """Convert an array to a tensor of the same integer type."""
    return torch.from_numpy(np.array(values))


def encode(
    pairs: Iterable[TokenPair],
    ids: Mapping[str, int],
    classes: Sequence[str],
    max_tokens: int | None = None,
) -> Encoded:
    """Encode a split. Words without an id become UNKNOWN; pairs above max_tokens are dropped.

    Raises:
        DataError: a sentence is too long for its parse.
    """
    # compact arrays of concatenated sentences: full SNLI has 12 million tokens
    sides = [(array("i"), array("q", [0]), array("h")) for _ in ("premise", "hypothesis")]
    labels, depths, pair_ids, dropped = array("q"), array("q"), [], 0
    for pair in pairs:
        if max_tokens is not None and max(len(pair.premise), len(pair.hypothesis)) > max_tokens:
            dropped += 1
            continue
        parts = ((pair.premise, pair.premise_tree), (pair.hypothesis, pair.hypothesis_tree))
        for (words, offsets, trees), (tokens, tree) in zip(sides, parts, strict=True):
            if tree and len(tokens) > LONGEST_TREE:
                problem = f"a sentence of {pair.pair_id} has {len(tokens):,} words"
                advice = "shorten or remove it, or set corpus.parses to false"
                raise DataError(f"{problem}; a parse has at most {LONGEST_TREE:,}; {advice}")
            words.extend([ids.get(token, UNKNOWN) for token in tokens])
            offsets.append(len(words))
            trees.extend(tree or [])
        labels.append(classes.index(pair.label))
        depths.append(pair.depth)
        pair_ids.append(pair.pair_id)
    flat = [as_tensor(part) for side in sides for part in side[:2]]
    encoded_trees = [as_tensor(trees) if trees else None for _, _, trees in sides]
    values = (as_tensor(labels), as_tensor(depths), [*classes])
    tensors = PairTensors(*flat, *values, *encoded_trees)  # type: ignore[call-arg, arg-type]
    return Encoded(tensors, pair_ids, dropped)


def spelling_hash(word: str) -> int:
    """Return a number below 2^63 that depends only on the spelling, for the `hashed` OOV rule."""
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big") >> 1
