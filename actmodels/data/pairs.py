"""A split of sentence pairs as flat tensors in one file that loads by memory map.

Token ids: 0 pads, 1 is any word outside the vocabulary, 2 is the NULL token that a model may
ask for in front of each sentence, and the vocabulary's words follow from 3.
"""

from dataclasses import dataclass, fields
from pathlib import Path

from torch import Tensor

from actmodels.data.stored import load_stored, save_stored

PAD, UNKNOWN, NULL, FIRST_WORD = 0, 1, 2, 3
FILLER = -1  # the label of a row that is no example: it fills a smaller batch of a pack


@dataclass(frozen=True)
class PairTensors:
    """One split.

    premise_ids, hypothesis_ids: int32 [tokens of the split], the sentences end to end.
    premise_offsets, hypothesis_offsets: int64 [pairs + 1]; sentence i is ids[o[i]:o[i + 1]].
    labels: int64 [pairs], index into LABELS.
    depths: int64 [pairs], recorded reasoning depth, 0 where the corpus records none.
    """

    premise_ids: Tensor
    premise_offsets: Tensor
    hypothesis_ids: Tensor
    hypothesis_offsets: Tensor
    labels: Tensor
    depths: Tensor

    def __len__(self) -> int:
        return self.labels.numel()

    def save(self, path: Path) -> None:
        """Write atomically; the same content always gives the same bytes."""
        save_stored({f.name: getattr(self, f.name) for f in fields(self)}, path)

    @classmethod
    def load(cls, path: Path) -> "PairTensors":
        """Memory-map the file; raises ArtefactError if it is missing or damaged."""
        return load_stored(cls, path, "a split of sentence pairs")
