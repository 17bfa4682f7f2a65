"""Cloze questions: a split as flat tensors in one file, its batches, and the vectors of its words.

Token ids: 0 pads, 1 is any word outside the vocabulary, 2 is the placeholder of the missing word,
and the vocabulary's words follow from 3.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.data.pairs import StoredTensors, pad
from actmodels.seeding import generator
from studies.cloze.config import ReaderTrialConfig

PAD, UNKNOWN, PLACEHOLDER, FIRST_WORD = 0, 1, 2, 3
NO_CANDIDATE = -1  # at a document token that is no candidate


@dataclass(frozen=True)
class QuestionTensors(StoredTensors):
    """One split.

    A candidate is identified by its positions in the document, not by its token id: candidates
    outside the vocabulary share an id, and are different answers.
    """

    what, stage = "a split of cloze questions", "study@cloze"

    document_ids: Tensor  # int32 [tokens of the split], concatenated
    # int32 [document tokens of the split], index of the candidate at each token; NO_CANDIDATE
    # elsewhere
    candidate_at: Tensor
    document_offsets: Tensor  # int64 [questions + 1]; question i is ids[o[i]:o[i + 1]]
    query_ids: Tensor  # int32 [tokens of the split], concatenated
    query_offsets: Tensor  # int64 [questions + 1]; question i is ids[o[i]:o[i + 1]]
    candidate_counts: Tensor  # int64 [questions]
    answers: Tensor  # int64 [questions], index of the correct candidate

    def __len__(self) -> int:
        return self.answers.numel()


class QuestionBatch(NamedTuple):
    """Padded questions."""

    document: Tensor  # token ids [batch, tokens], 0 on padding
    document_mask: Tensor  # true for real tokens [batch, tokens]
    query: Tensor  # token ids [batch, tokens], 0 on padding
    query_mask: Tensor  # true for real tokens [batch, tokens]
    candidate_at: Tensor  # as in QuestionTensors [batch, document tokens], NO_CANDIDATE on padding
    candidate_mask: Tensor  # true for the candidates of a question [batch, candidates]
    answers: Tensor  # [batch]


def collate(
    questions: QuestionTensors, index: Tensor, device: torch.device | str = "cpu"
) -> QuestionBatch:
    """Return the batch of the questions `index` [batch]."""
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
    """Yield the indices of each batch of an epoch (Munkhdalai & Yu 2017, section 4.1).

    Draw a pool from the unused questions, take those with the shortest documents as a batch,
    and return the others, until no pool can be filled.

    Args:
        lengths: document tokens [questions].
        pool_size: at least batch_size.
        keep_last: batch the remaining questions in order of length; published: skip them.
    """
    unused = torch.arange(len(lengths))
    while len(unused) >= pool_size:
        shuffled = unused[torch.randperm(len(unused), generator=generator)]
        pool = shuffled[:pool_size]
        pool = pool[torch.argsort(lengths[pool], stable=True)]
        yield pool[:batch_size]
        unused = torch.cat([pool[batch_size:], shuffled[pool_size:]])
    if keep_last and len(unused):
        unused = unused[torch.randperm(len(unused), generator=generator)]
        yield from unused[torch.argsort(lengths[unused], stable=True)].split(batch_size)


def occurrences(questions: QuestionTensors) -> Tensor:
    """Count the tokens of each candidate in its document [questions, candidates]."""
    questions_of = torch.arange(len(questions)).repeat_interleave(questions.document_offsets.diff())
    at = questions.candidate_at.long()
    counts = torch.zeros(len(questions), int(questions.candidate_counts.max()), dtype=torch.int64)
    real, ones = at != NO_CANDIDATE, torch.ones((), dtype=torch.int64)
    return counts.index_put((questions_of[real], at[real]), ones, accumulate=True)


def most_frequent_accuracy(questions: QuestionTensors) -> float:
    """Return the accuracy of the most frequent candidate, ties shared (Hill et al. 2015)."""
    counts = occurrences(questions)
    best = counts == counts.amax(dim=1, keepdim=True)
    correct = best.gather(1, questions.answers[:, None]).squeeze(1)
    return (correct / best.sum(dim=1)).double().mean().item()


@dataclass(frozen=True)
class ClozeVectors(StoredTensors):
    """Pre-trained vectors of a vocabulary."""

    what, stage = "a vocabulary's vectors", "study@cloze"

    vectors: Tensor  # [words, dimensions], zeros for a word without a vector
    found: Tensor  # whether the word has a vector [words]


@dataclass(frozen=True)
class ReaderData:
    """Questions of one type, such as NE, and their words."""

    train: QuestionTensors
    dev: QuestionTensors
    words: ClozeVectors

    @classmethod
    def load(cls, folder: Path) -> "ReaderData":
        """Load the files of a question type; ArtifactError if one is missing or corrupt."""
        train, dev = (QuestionTensors.load(folder / f"{split}.pt") for split in ("train", "dev"))
        return cls(train, dev, ClozeVectors.load(folder / "vectors.pt"))


def reader_data(config: ReaderTrialConfig, folder: Path, text: Path | None = None) -> ReaderData:
    """Load the data of a trial; see BaseTrialConfig."""
    return ReaderData.load(folder / config.questions)


def initial_embeddings(config: ReaderTrialConfig, words: ClozeVectors) -> Tensor:
    """Return the initial embedding [FIRST_WORD + words, dimensions] (section 4.1).

    The row of padding is zero. The placeholder, unknown words and words without a pre-trained
    vector have uniform ones, drawn with the trial's seed.
    """
    vectors, bound = words.vectors, config.reader.embedding_range
    shape = (FIRST_WORD + len(vectors), vectors.shape[1])
    table = torch.rand(shape, generator=generator("word rows", config.seed)) * 2 * bound - bound
    table[FIRST_WORD:][words.found] = vectors[words.found].to(table.dtype)
    table[PAD] = 0.0
    return table.to(vectors.dtype)
