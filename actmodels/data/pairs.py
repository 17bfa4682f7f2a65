"""Sentence pairs: a split as flat tensors in one file, and its batches.

Token ids: 0 pads, 1 is any word outside the vocabulary, 2 is the NULL token that a model may
ask for in front of each sentence, and the vocabulary's words follow from 3.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.data.stored import StoredTensors

PAD, UNKNOWN, NULL, FIRST_WORD = 0, 1, 2, 3
FILLER = -1  # the label of a row that is no example: it fills a smaller batch of a fusion


@dataclass(frozen=True)
class PairTensors(StoredTensors):
    """One split.

    premise_ids, hypothesis_ids: int32 [tokens of the split], the sentences end to end.
    premise_offsets, hypothesis_offsets: int64 [pairs + 1]; sentence i is ids[o[i]:o[i + 1]].
    labels: int64 [pairs], index into LABELS.
    depths: int64 [pairs], recorded reasoning depth, 0 where the corpus records none.
    premise_tree, hypothesis_tree: int16 [tokens of the split], the binary tree over a sentence: how
        many nodes end behind each token; None where the corpus was made without parses.
    """

    what = "a split of sentence pairs"

    premise_ids: Tensor
    premise_offsets: Tensor
    hypothesis_ids: Tensor
    hypothesis_offsets: Tensor
    labels: Tensor
    depths: Tensor
    premise_tree: Tensor | None = None
    hypothesis_tree: Tensor | None = None

    def __len__(self) -> int:
        return self.labels.numel()

    def take(self, rows: Tensor) -> "PairTensors":
        """The pairs `rows` [any number] in this order, each as often as it is named."""
        premise = sentences(self.premise_ids, self.premise_offsets, rows)
        hypothesis = sentences(self.hypothesis_ids, self.hypothesis_offsets, rows)
        trees = self.each_tree(lambda tree, offsets: sentences(tree, offsets, rows)[0])
        return PairTensors(*premise, *hypothesis, self.labels[rows], self.depths[rows], *trees)

    def each_tree(self, change: Callable[[Tensor, Tensor], Tensor]) -> list[Tensor | None]:
        """What is made of the trees and the offsets of premises, and of hypotheses."""
        premise = (self.premise_tree, self.premise_offsets)
        both = (premise, (self.hypothesis_tree, self.hypothesis_offsets))
        return [None if tree is None else change(tree, offsets) for tree, offsets in both]


def sentences(ids: Tensor, offsets: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Ids and offsets of the sentences `rows`, end to end."""
    lengths = offsets.diff()[rows]
    ends = lengths.cumsum(0)
    shift = offsets[rows] - (ends - lengths)  # from a sentence's place here to its place in ids
    places = torch.arange(int(lengths.sum())) + shift.repeat_interleave(lengths)
    return ids[places], torch.cat([ends.new_zeros(1), ends])


class Batch(NamedTuple):
    """Padded sentences: token ids, masks and trees [batch, tokens], trees as in PairTensors.

    labels, and rows, the place of each pair in the split: [batch].
    """

    premise: Tensor
    premise_mask: Tensor
    hypothesis: Tensor
    hypothesis_mask: Tensor
    labels: Tensor
    rows: Tensor
    premise_tree: Tensor | None = None
    hypothesis_tree: Tensor | None = None

    def each(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        return Batch(*(None if part is None else change(part) for part in self))  # type: ignore[arg-type]


def pad(ids: Tensor, offsets: Tensor, index: Tensor, null_token: bool) -> tuple[Tensor, Tensor]:
    """Gather sentences `index` out of the flat `ids` into [batch, tokens] and a mask."""
    starts = offsets[index]
    lengths = offsets[index + 1] - starts
    positions = torch.arange(int(lengths.max()))
    mask = positions < lengths[:, None]
    gathered = ids[(starts[:, None] + positions).clamp_(max=ids.numel() - 1)].long() * mask
    if null_token:
        front = torch.ones(len(index), 1, dtype=torch.long)
        gathered = torch.cat([front * NULL, gathered], dim=1)
        mask = torch.cat([front.bool(), mask], dim=1)
    return gathered, mask


def collate(
    pairs: PairTensors, index: Tensor, *, null_token: bool, device: torch.device | str = "cpu"
) -> Batch:
    """Make the batch of the rows `index`, each sentence behind a NULL token if asked for."""
    premise = pad(pairs.premise_ids, pairs.premise_offsets, index, null_token)
    hypothesis = pad(pairs.hypothesis_ids, pairs.hypothesis_offsets, index, null_token)
    trees = pairs.each_tree(lambda tree, offsets: pad_trees(tree, offsets, index, null_token))
    batch = Batch(*premise, *hypothesis, pairs.labels[index], index, *trees)
    return batch.each(lambda tensor: tensor.to(device, non_blocking=True))


def pad_trees(tree: Tensor, offsets: Tensor, index: Tensor, null_token: bool) -> Tensor:
    """Gather trees as `pad` gathers sentences; a NULL token is the left child of a new root."""
    trees, mask = pad(tree, offsets, index, null_token)
    if null_token:
        trees[:, 0] = 0
        trees[torch.arange(len(index)), mask.sum(dim=1) - 1] += 1
    return trees


def batches_by_length(
    pairs: PairTensors, batch_size: int, generator: torch.Generator | None = None
) -> Iterator[Tensor]:
    """Yield rows of each batch, sorted by length; a generator shuffles ties and batches."""
    count = len(pairs)
    order = torch.arange(count) if generator is None else torch.randperm(count, generator=generator)
    premise = pairs.premise_offsets.diff()[order]
    hypothesis = pairs.hypothesis_offsets.diff()[order]
    by_length = torch.argsort(premise * (int(hypothesis.max()) + 1) + hypothesis, stable=True)
    batches = order[by_length].split(batch_size)
    if generator is None:
        yield from batches
    else:
        for number in torch.randperm(len(batches), generator=generator).tolist():
            yield batches[number]
