"""Cloze questions: a split as flat tensors in one file, and its batches.

Token ids: 0 pads, 1 is any word outside the vocabulary, 2 is the placeholder of the missing word,
and the vocabulary's words follow from 3.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.data.pairs import pad
from actmodels.data.stored import StoredTensors

PAD, UNKNOWN, PLACEHOLDER, FIRST_WORD = 0, 1, 2, 3
NO_CANDIDATE = -1  # at a document's token that is none of the question's candidates


@dataclass(frozen=True)
class QuestionTensors(StoredTensors):
    """One split.

    A candidate is identified by its place in the document, not by its token id: two candidates
    outside the vocabulary have the same id, and are different answers.

    document_ids, query_ids: int32 [tokens of the split], end to end.
    candidate_at: int32 [tokens of the split's documents], the number of the candidate, from 0, that
        each token is; NO_CANDIDATE elsewhere.
    document_offsets, query_offsets: int64 [questions + 1]; question i is ids[o[i]:o[i + 1]].
    candidate_counts: int64 [questions]. answers: int64 [questions], number of the right candidate.
    """

    what, stage = "a split of cloze questions", "cloze_data"

    document_ids: Tensor
    candidate_at: Tensor
    document_offsets: Tensor
    query_ids: Tensor
    query_offsets: Tensor
    candidate_counts: Tensor
    answers: Tensor

    def __len__(self) -> int:
        return self.answers.numel()


class QuestionBatch(NamedTuple):
    """Padded questions.

    document, query: token ids [batch, tokens], 0 where padded; masks are true for real tokens.
    candidate_at: as in QuestionTensors [batch, document tokens], NO_CANDIDATE where padded.
    candidate_mask: true for a question's own candidates [batch, candidates]. answers: [batch].
    """

    document: Tensor
    document_mask: Tensor
    query: Tensor
    query_mask: Tensor
    candidate_at: Tensor
    candidate_mask: Tensor
    answers: Tensor


def collate(
    questions: QuestionTensors, index: Tensor, device: torch.device | str = "cpu"
) -> QuestionBatch:
    """Make the batch of the rows `index`."""
    offsets = questions.document_offsets
    document, document_mask = pad(questions.document_ids, offsets, index, null_token=False)
    query, query_mask = pad(questions.query_ids, questions.query_offsets, index, null_token=False)
    candidate_at, _ = pad(questions.candidate_at, offsets, index, null_token=False)
    candidate_at = candidate_at.masked_fill(~document_mask, NO_CANDIDATE)
    counts = questions.candidate_counts[index]
    candidate_mask = torch.arange(int(counts.max())) < counts[:, None]
    tensors = (document, document_mask, query, query_mask, candidate_at, candidate_mask)
    return QuestionBatch(*(t.to(device) for t in (*tensors, questions.answers[index])))


def pooled_batches(
    lengths: Tensor, batch_size: int, pool_size: int, keep_last: bool, generator: torch.Generator
) -> Iterator[Tensor]:
    """Yield the rows of each batch of an epoch (Munkhdalai & Yu 2017 section 4.1).

    Draw a pool of at least batch_size from the questions not yet used, take those with the shortest
    documents (lengths [questions]) as a batch, return the others; until no pool can be filled.
    keep_last: then go through the rest in order of length. Published: they wait for another epoch.
    """
    left = torch.arange(len(lengths))
    while len(left) >= pool_size:
        shuffled = torch.randperm(len(left), generator=generator)
        pool, others = left[shuffled[:pool_size]], left[shuffled[pool_size:]]
        pool = pool[torch.argsort(lengths[pool], stable=True)]
        yield pool[:batch_size]
        left = torch.cat([pool[batch_size:], others])
    if keep_last and len(left):
        left = left[torch.randperm(len(left), generator=generator)]
        yield from left[torch.argsort(lengths[left], stable=True)].split(batch_size)


def occurrences(questions: QuestionTensors) -> Tensor:
    """How often each candidate stands in its document [questions, candidates]."""
    most = int(questions.candidate_counts.max())
    rows = torch.arange(len(questions)).repeat_interleave(questions.document_offsets.diff())
    at = questions.candidate_at.long()
    stands = at != NO_CANDIDATE
    counts = torch.bincount(rows[stands] * most + at[stands], minlength=len(questions) * most)
    return counts.view(len(questions), most)


def most_frequent_accuracy(questions: QuestionTensors) -> float:
    """Accuracy, in [0, 1], of the most frequent candidate (Hill et al. 2015); ties share it."""
    counts = occurrences(questions)
    best = counts == counts.amax(dim=1, keepdim=True)
    right = best.gather(1, questions.answers[:, None]).squeeze(1)
    return (right / best.sum(dim=1)).double().mean().item()
