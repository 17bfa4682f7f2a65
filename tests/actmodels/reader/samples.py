"""Random questions and small readers."""

from dataclasses import replace
from itertools import accumulate
from typing import Any

import torch

from actmodels.reader.config import ReaderConfig, ReaderTrainConfig, ReaderTrialConfig
from actmodels.reader.data import ReaderData, WordRows, embedding_rows
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


def reader_trial(**changes: Any) -> ReaderTrialConfig:
    """A trial; its settings have one name each, whatever part they belong to."""
    parts: dict[str, Any] = {}
    for name, part in (("reader", READER), ("training", TRAINING)):
        own = {setting: changes.pop(setting) for setting in list(changes) if hasattr(part, setting)}
        parts[name] = replace(part, **own)
    return replace(READING, **parts, **changes)


def words() -> WordRows:
    vectors = torch.randn(WORDS, DIMENSIONS, generator=torch.Generator().manual_seed(0))
    return WordRows(vectors, torch.ones(WORDS, dtype=torch.bool))


def reader_data() -> ReaderData:
    return ReaderData(questions(30, 1), questions(11, 2), words())


def make(**changes: Any) -> Reader:
    """An untrained reader in double precision and evaluation mode."""
    config = reader_trial(**changes)
    rows = embedding_rows(config, words()).double()
    return Reader(config.reader, rows, seed=1).double().eval()


def questions(count: int, seed: int = 0) -> QuestionTensors:
    """Documents of 4 to 12 words, queries of 2 to 5, 2 to 4 candidates, some stand twice."""
    draw = torch.Generator().manual_seed(seed)

    def number(low: int, high: int) -> int:
        return int(torch.randint(low, high + 1, (), generator=draw))

    def tokens(count: int) -> list[int]:
        return [number(FIRST_WORD, FIRST_WORD + WORDS - 1) for _ in range(count)]

    documents, at, queries, counts, answers = [], [], [], [], []
    for _ in range(count):
        document, query, candidates = tokens(number(4, 12)), tokens(number(2, 5)), number(2, 4)
        here = [number(-1, candidates - 1) for _ in document]
        here[number(0, len(document) - 1)] = answer = number(0, candidates - 1)
        query[number(0, len(query) - 1)] = PLACEHOLDER
        documents.append(document)
        at += here
        queries.append(query)
        counts.append(candidates)
        answers.append(answer)
    assert NO_CANDIDATE in at
    return QuestionTensors(
        torch.tensor([token for one in documents for token in one], dtype=torch.int32),
        torch.tensor(at, dtype=torch.int32),
        torch.tensor([0, *accumulate(map(len, documents))]),
        torch.tensor([token for one in queries for token in one], dtype=torch.int32),
        torch.tensor([0, *accumulate(map(len, queries))]),
        torch.tensor(counts),
        torch.tensor(answers),
    )
