"""Tokenised pairs to tensors, and the digest that names a data set."""

import hashlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from actmodels.data.pairs import UNKNOWN, PairTensors
from actmodels.files import file_digest
from actmodels.settings import LABELS
from pipeline.sources.tokens import TokenPair


class Encoded(NamedTuple):
    """A split as tensors, the ids of its pairs in order, and how many were too long."""

    tensors: PairTensors
    pair_ids: list[str]
    dropped: int


class _Sentences:
    """Sentences end to end, in compact arrays: full SNLI has 12 million tokens."""

    def __init__(self) -> None:
        self.ids, self.offsets, self.tree = array("i"), array("q", [0]), array("h")

    def add(
        self, tokens: Sequence[str], ids: Mapping[str, int], tree: Sequence[int] | None
    ) -> None:
        self.tree.extend(tree or [])
        self.ids.extend([ids.get(token, UNKNOWN) for token in tokens])
        self.offsets.append(len(self.ids))

    def tensors(self) -> tuple[torch.Tensor, torch.Tensor]:
        return as_tensor(self.ids), as_tensor(self.offsets)

    def trees(self) -> torch.Tensor | None:
        return as_tensor(self.tree) if self.tree else None


def as_tensor(values: "array[int]") -> torch.Tensor:
    """The same whole numbers, of the same size in memory."""
    return torch.from_numpy(np.array(values))


def encode(
    pairs: Iterable[TokenPair], ids: Mapping[str, int], max_tokens: int | None = None
) -> Encoded:
    """Encode a split.

    Args:
        ids: token id of every word of the vocabulary; other words become UNKNOWN.
        max_tokens: leave out pairs with a longer sentence; None keeps all.
    """
    premises, hypotheses = _Sentences(), _Sentences()
    labels, depths, pair_ids, dropped = array("q"), array("q"), [], 0
    for pair in pairs:
        if max_tokens is not None and max(len(pair.premise), len(pair.hypothesis)) > max_tokens:
            dropped += 1
            continue
        premises.add(pair.premise, ids, pair.premise_tree)
        hypotheses.add(pair.hypothesis, ids, pair.hypothesis_tree)
        labels.append(LABELS.index(pair.label))
        depths.append(pair.depth)
        pair_ids.append(pair.pair_id)
    numbers = (as_tensor(labels), as_tensor(depths))
    trees = (premises.trees(), hypotheses.trees())
    tensors = PairTensors(*premises.tensors(), *hypotheses.tensors(), *numbers, *trees)
    return Encoded(tensors, pair_ids, dropped)


def spelling_hash(word: str) -> int:
    """A number below 2^63 that depends on the spelling alone, for the `hashed` OOV rule."""
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big") >> 1


def files_digest(paths: Sequence[Path]) -> str:
    """SHA-256 over the names and the contents of files, in the order given."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.name} {file_digest(path)}\n".encode())
    return digest.hexdigest()
