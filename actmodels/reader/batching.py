"""Batches of questions with documents of like length, padded on the right, with masks."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.data.batching import pad
from actmodels.reader.questions import NO_CANDIDATE, QuestionTensors


class QuestionBatch(NamedTuple):
    """Padded questions.

    document, query: token ids [batch, tokens], 0 where padded.
    document_mask, query_mask: true for real tokens, same shapes.
    candidate_at: [batch, document tokens], the candidate that a token is, NO_CANDIDATE elsewhere
        and where padded.
    candidate_mask: [batch, candidates], true for a question's own candidates.
    answers: [batch], the number of the right candidate.
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

    Draw a pool at random from the questions not yet used, take the `batch_size` of it with the
    shortest documents as a batch, put the others back; until too few are left for a pool.

    Args:
        lengths: tokens of each document [questions].
        pool_size: questions in a pool, at least batch_size.
        keep_last: then go through what is left in order of length, so that every question is
            seen once an epoch. Published: they wait for another epoch. Where there are fewer
            questions than a pool holds, that is all of them.
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


def batches_by_length(lengths: Tensor, batch_size: int) -> Iterator[Tensor]:
    """Yield the rows of each batch of an evaluation: all questions, in order of length."""
    yield from torch.argsort(lengths, stable=True).split(batch_size)
