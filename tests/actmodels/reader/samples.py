"""Random questions and small readers."""

from dataclasses import replace
from typing import Any

import torch

from actmodels.reader.config import ReaderConfig, ReaderTrainConfig, ReaderTrialConfig
from actmodels.reader.model import Reader
from actmodels.reader.questions import FIRST_WORD, NO_CANDIDATE, PLACEHOLDER, QuestionTensors

WORDS, DIMENSIONS = 20, 5

READER = ReaderConfig(
    strategy="query_gating",
    steps=3,
    memory_size=6,
    compose_activation="relu",
    forget_bias=0.0,
    parameter_range=0.5,
    embedding_range=0.5,
    trained_embeddings=True,
    dropout=0.2,
)
TRAINING = ReaderTrainConfig(
    learning_rate=0.01,
    clip_norm=15.0,
    batch_size=4,
    pool_size=8,
    keep_last=True,
    evaluation_batch_size=5,
)
READING = ReaderTrialConfig(
    questions="NE",
    reader=READER,
    training=TRAINING,
    max_epochs=4,
    patience=0,
    seed=3,
)


def reader_config(**changes: Any) -> ReaderConfig:
    return replace(READER, **changes)


def reader_trial(**changes: Any) -> ReaderTrialConfig:
    """A trial; its settings have one name each, whatever part they belong to."""
    parts: dict[str, Any] = {}
    for name, part in (("reader", READER), ("training", TRAINING)):
        own = {setting: changes.pop(setting) for setting in list(changes) if hasattr(part, setting)}
        parts[name] = replace(part, **own)
    return replace(READING, **parts, **changes)


def rows(seed: int = 0) -> torch.Tensor:
    vectors = torch.randn(
        FIRST_WORD + WORDS, DIMENSIONS, generator=torch.Generator().manual_seed(seed)
    )
    vectors[0] = 0.0
    return vectors


def make(**changes: Any) -> Reader:
    """An untrained reader in double precision and evaluation mode."""
    return Reader(reader_config(**changes), rows().double(), seed=1).double().eval()


def questions(count: int, seed: int = 0) -> QuestionTensors:
    """Documents of 4 to 12 words, queries of 2 to 5, 2 to 4 candidates, some stand twice."""
    draw = torch.Generator().manual_seed(seed)

    def number(low: int, high: int) -> int:
        return int(torch.randint(low, high + 1, (), generator=draw))

    document_ids, candidate_at, query_ids = [], [], []
    document_offsets, query_offsets = [0], [0]
    counts, answers = [], []
    for _ in range(count):
        tokens, asked, candidates = number(4, 12), number(2, 5), number(2, 4)
        document = [number(FIRST_WORD, FIRST_WORD + WORDS - 1) for _ in range(tokens)]
        at = [number(-1, candidates - 1) for _ in document]
        at[number(0, tokens - 1)] = answer = number(0, candidates - 1)
        query = [number(FIRST_WORD, FIRST_WORD + WORDS - 1) for _ in range(asked)]
        query[number(0, asked - 1)] = PLACEHOLDER
        document_ids += document
        candidate_at += at
        query_ids += query
        document_offsets.append(len(document_ids))
        query_offsets.append(len(query_ids))
        counts.append(candidates)
        answers.append(answer)
    assert NO_CANDIDATE in candidate_at
    return QuestionTensors(
        torch.tensor(document_ids, dtype=torch.int32),
        torch.tensor(candidate_at, dtype=torch.int32),
        torch.tensor(document_offsets),
        torch.tensor(query_ids, dtype=torch.int32),
        torch.tensor(query_offsets),
        torch.tensor(counts),
        torch.tensor(answers),
    )
