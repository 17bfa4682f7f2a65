"""A split of cloze questions as flat tensors in one file that loads by memory map.

Token ids: 0 pads, 1 is any word outside the vocabulary, 2 is the placeholder of the missing word,
and the vocabulary's words follow from 3.
"""

from dataclasses import dataclass, fields
from pathlib import Path

from torch import Tensor

from actmodels.data.stored import load_stored, save_stored

PAD, UNKNOWN, PLACEHOLDER, FIRST_WORD = 0, 1, 2, 3
STAGE = "questions"  # which makes these files
NO_CANDIDATE = -1  # at a document's token that is none of the question's candidates


@dataclass(frozen=True)
class QuestionTensors:
    """One split.

    A candidate is told by where it stands in the document, not by its token id: two candidates
    outside the vocabulary have the same id, and are different answers all the same.

    document_ids, query_ids: int32 [tokens of the split], end to end.
    candidate_at: int32 [tokens of the split's documents], which of its question's candidates,
        counted from 0, each token is; NO_CANDIDATE elsewhere.
    document_offsets, query_offsets: int64 [questions + 1]; that of question i is
        ids[o[i]:o[i + 1]].
    candidate_counts: int64 [questions], how many candidates each question has.
    answers: int64 [questions], the number of the right candidate.
    """

    document_ids: Tensor
    candidate_at: Tensor
    document_offsets: Tensor
    query_ids: Tensor
    query_offsets: Tensor
    candidate_counts: Tensor
    answers: Tensor

    def __len__(self) -> int:
        return self.answers.numel()

    def save(self, path: Path) -> None:
        """Write atomically; the same content always gives the same bytes."""
        save_stored({f.name: getattr(self, f.name) for f in fields(self)}, path)

    @classmethod
    def load(cls, path: Path) -> "QuestionTensors":
        """Memory-map the file; raises ArtefactError if it is missing or damaged."""
        return load_stored(cls, path, "a split of cloze questions", STAGE)
