"""Random questions and small readers."""

from collections.abc import Iterable
from itertools import accumulate
from random import Random
from typing import Any

import torch

from studies.cloze.config import ReaderTrialConfig, build_reader_trial
from studies.cloze.data import (
    FIRST_WORD,
    NO_CANDIDATE,
    PLACEHOLDER,
    ClozeVectors,
    QuestionTensors,
    ReaderData,
    initial_embeddings,
)
from studies.cloze.model import Reader

WORDS, DIMENSIONS = 20, 5

SETTINGS: dict[str, Any] = {
    **{"strategy": "query_gating", "steps": 3, "memory_size": 6, "parameter_range": 0.5},
    **{"embedding_range": 0.5, "dropout": 0.2, "learning_rate": 0.01, "clip_norm": 15.0},
    **{"batch_size": 4, "pool_size": 8, "keep_last": True, "evaluation_batch_size": 5},
}


def reader_trial(max_epochs: int = 4, seed: int = 3, **changes: Any) -> ReaderTrialConfig:
    """Build a trial with changed settings of any part."""
    limits = {"max_epochs": max_epochs, "patience": 0, "seed": seed}
    return build_reader_trial("NE", SETTINGS | changes, **limits)


def words() -> ClozeVectors:
    vectors = torch.randn(WORDS, DIMENSIONS, generator=torch.Generator().manual_seed(0))
    return ClozeVectors(vectors, torch.ones(WORDS, dtype=torch.bool))


def reader_data() -> ReaderData:
    return ReaderData(questions(30, 1), questions(11, 2), words())


def make(**changes: Any) -> Reader:
    """An untrained reader in double precision and evaluation mode."""
    config = reader_trial(**changes)
    rows = initial_embeddings(config, words()).double()
    return Reader(config.reader, rows, seed=1).double().eval()


Question = tuple[list[tuple[int, int]], list[int], int, int]


def as_tensors(examples: Iterable[Question]) -> QuestionTensors:
    """Build a split. A question is (word, candidate) pairs of the document, the query's words, the
    number of candidates, and the index of the answer."""
    documents, queries, counts, answers = zip(*examples, strict=True)
    places = [word for document in documents for word in document]
    ids, at = (torch.tensor(column, dtype=torch.int32) for column in zip(*places, strict=True))
    return QuestionTensors(
        ids,
        at,
        torch.tensor([0, *accumulate(map(len, documents))]),
        torch.tensor([token for query in queries for token in query], dtype=torch.int32),
        torch.tensor([0, *accumulate(map(len, queries))]),
        torch.tensor(counts),
        torch.tensor(answers),
    )


def questions(count: int, seed: int = 0) -> QuestionTensors:
    """Documents of 4 to 12 words, queries of 2 to 5, 2 to 4 candidates, some of them repeated."""
    draws = Random(seed)

    def tokens(low: int, high: int) -> list[int]:
        length = draws.randint(low, high)
        return [draws.randrange(FIRST_WORD, FIRST_WORD + WORDS) for _ in range(length)]

    def question() -> Question:
        document, query, candidates = tokens(4, 12), tokens(2, 5), draws.randint(2, 4)
        at = [draws.randint(NO_CANDIDATE, candidates - 1) for _ in document]
        at[draws.randrange(len(document))] = answer = draws.randrange(candidates)
        query[draws.randrange(len(query))] = PLACEHOLDER
        return list(zip(document, at, strict=True)), query, candidates, answer

    return as_tensors(question() for _ in range(count))
