"""Sentence pairs: a split as flat tensors in one file, and its batches.

Token ids: 0 padding, 1 words outside the vocabulary, 2 the optional NULL token before each
sentence, from 3 the words of the vocabulary.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, ClassVar, NamedTuple, Self

import torch
from torch import Tensor

from actmodels.errors import ArtifactError
from actmodels.files import read_known, replacing

UNREADABLE = (RuntimeError, TypeError, EOFError, ValueError, LookupError, UnpicklingError)


def save_stored(content: dict[str, Any], path: Path) -> None:
    """Write named tensors atomically; equal content gives equal bytes."""
    buffer = io.BytesIO()  # given a path, torch stores the file name
    torch.save(content, buffer)
    with replacing(path) as temporary:
        temporary.write_bytes(buffer.getbuffer())


class StoredTensors:
    """Base class of dataclasses of tensors in one file."""

    what: ClassVar[str]  # content, in messages
    stage: ClassVar[str] = "tensors"  # stage that writes the file, in messages

    def save(self, path: Path) -> None:
        """Write atomically; equal content gives equal bytes."""
        save_stored({n: t for n, t in vars(self).items() if t is not None}, path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a file; ArtifactError if it is missing, changed, or has other content."""
        if not path.is_file():
            raise ArtifactError(
                f"{path} is missing; run the stage that writes it: dvc repro {cls.stage}"
            )
        try:
            return cls(**torch.load(io.BytesIO(read_known(path)), weights_only=True))
        except UNREADABLE as error:
            raise ArtifactError(
                f"{path} is not {cls.what} ({type(error).__name__}); "
                f"run the stage that writes it again: dvc repro -f {cls.stage}"
            ) from error


PAD, UNKNOWN, NULL, FIRST_WORD = 0, 1, 2, 3
# Label of a row that fills up a smaller batch of a fusion, not an example; torch's ignore_index.
FILLER = -100
BATCH_SIZE = 256  # ours: pairs at a time where no gradient is needed; changes no result


Side = tuple[Tensor, Tensor, Tensor | None]  # ids, offsets and trees of sentences


@dataclass(frozen=True)
class PairTensors(StoredTensors):
    """A split of sentence pairs.

    premise_tree, hypothesis_tree: binary parse trees as the number of nodes that end after each
        token, int16 [tokens of the split]; None if the corpus has no parses.
    """

    what = "a split of sentence pairs"

    premise_ids: Tensor  # concatenated sentences, int32 [tokens of the split]
    premise_offsets: Tensor  # int64 [pairs + 1]; sentence i is ids[o[i]:o[i + 1]]
    hypothesis_ids: Tensor  # concatenated sentences, int32 [tokens of the split]
    hypothesis_offsets: Tensor  # int64 [pairs + 1]; sentence i is ids[o[i]:o[i + 1]]
    labels: Tensor  # index into `classes`, int64 [pairs]
    depths: Tensor  # recorded reasoning depth, int64 [pairs]; 0 if the corpus has none
    classes: Sequence[str]  # names, in the order of the logits
    premise_tree: Tensor | None = None
    hypothesis_tree: Tensor | None = None

    def __len__(self) -> int:
        return self.labels.numel()

    def take(self, rows: Tensor) -> "PairTensors":
        """Return the pairs at indices `rows`, in this order, with repetitions."""
        premise, hypothesis = (sentences(ids, offsets, rows) for ids, offsets, _ in self.sides)
        trees = (t if t is None else sentences(t, offsets, rows)[0] for _, offsets, t in self.sides)
        labels, depths = self.labels[rows], self.depths[rows]
        return PairTensors(*premise, *hypothesis, labels, depths, self.classes, *trees)

    @property
    def sides(self) -> tuple[Side, Side]:
        """Ids, offsets and trees of premises and of hypotheses."""
        return (
            (self.premise_ids, self.premise_offsets, self.premise_tree),
            (self.hypothesis_ids, self.hypothesis_offsets, self.hypothesis_tree),
        )


def sentences(ids: Tensor, offsets: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return ids and offsets of the concatenated sentences at indices `rows`."""
    lengths = offsets.diff()[rows]
    ends = lengths.cumsum(0)
    shift = offsets[rows] - (ends - lengths)  # from the new to the old position of a sentence
    positions = torch.arange(int(lengths.sum())) + shift.repeat_interleave(lengths)
    return ids[positions], torch.cat([ends.new_zeros(1), ends])


class Batch(NamedTuple):
    """A batch of padded sentences."""

    premise: Tensor  # token ids [batch, tokens]
    premise_mask: Tensor  # True for tokens, False for padding [batch, tokens]
    hypothesis: Tensor  # token ids [batch, tokens]
    hypothesis_mask: Tensor  # True for tokens, False for padding [batch, tokens]
    labels: Tensor  # index of the class [batch]
    rows: Tensor  # index of each pair in the split [batch]
    premise_tree: Tensor | None = None  # see PairTensors [batch, tokens]
    hypothesis_tree: Tensor | None = None  # see PairTensors [batch, tokens]

    def each(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        return Batch(*(None if part is None else change(part) for part in self))  # type: ignore[arg-type]


def pad(
    ids: Tensor, offsets: Tensor, index: Tensor, null_token: bool, words: int | None = None
) -> tuple[Tensor, Tensor]:
    """Return padded ids [batch, tokens] and mask of the sentences at `index` [batch].

    words: number of words to pad to, at least those of the longest sentence, the default.
    """
    starts, ends = (each.take(index)[..., None] for each in (offsets, offsets[1:]))
    words = int((ends - starts).max()) if words is None else words
    positions = starts + torch.arange(words, device=ids.device)
    mask = positions < ends
    gathered = ids.take(positions.clamp_(max=ids.numel() - 1)).long().mul_(mask)
    if null_token:
        front = torch.ones_like(starts)
        gathered = torch.cat([front * NULL, gathered], dim=-1)
        mask = torch.cat([front.bool(), mask], dim=-1)
    return gathered, mask


def collate(
    pairs: PairTensors,
    index: Tensor,
    *,
    null_token: bool,
    device: torch.device | str = "cpu",
    words: Sequence[int | None] = (None, None),
) -> Batch:
    """Build the batch of the pairs at `index` [batch].

    Args:
        null_token: prepend NULL to each sentence.
        words: to pad premises and hypotheses to; see `pad`.
    """
    sides = [(*side, number) for side, number in zip(pairs.sides, words, strict=True)]
    premise, hypothesis = (pad(ids, at, index, null_token, n) for ids, at, _, n in sides)
    trees = (t if t is None else pad_trees(t, at, index, null_token, n) for _, at, t, n in sides)
    batch = Batch(*premise, *hypothesis, pairs.labels[index], index, *trees)
    return batch.each(lambda tensor: tensor.to(device, non_blocking=True))


def pad_trees(
    tree: Tensor, offsets: Tensor, index: Tensor, null_token: bool, words: int | None = None
) -> Tensor:
    """Pad trees as `pad` does sentences; a NULL token is the left child of a new root."""
    trees, mask = pad(tree, offsets, index, null_token, words)
    if null_token:
        trees[..., 0] = 0
        last = mask.sum(dim=-1, keepdim=True) - 1
        trees.scatter_add_(-1, last, torch.ones_like(last))
    return trees


def batches_by_length(
    pairs: PairTensors, batch_size: int, generator: torch.Generator | None = None
) -> Iterator[Tensor]:
    """Yield the pair indices of each batch, by length; a generator shuffles ties and batches."""
    count = len(pairs)
    order = torch.arange(count) if generator is None else torch.randperm(count, generator=generator)
    premise = pairs.premise_offsets.diff()[order]
    hypothesis = pairs.hypothesis_offsets.diff()[order]
    by_length = torch.argsort(premise * (int(hypothesis.max()) + 1) + hypothesis, stable=True)
    batches: Sequence[Tensor] = order[by_length].split(batch_size)
    if generator is not None:
        batches = [batches[n] for n in torch.randperm(len(batches), generator=generator).tolist()]
    yield from batches
