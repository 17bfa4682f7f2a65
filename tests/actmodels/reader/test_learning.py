"""A reader learns to look something up in documents that it has not seen."""

from random import Random

import pytest
import torch

from actmodels.reader.data import ReaderData, WordRows
from actmodels.reader.questions import (
    FIRST_WORD,
    NO_CANDIDATE,
    PLACEHOLDER,
    QuestionTensors,
    most_frequent_accuracy,
)
from actmodels.reader.training import ReaderTraining
from tests.actmodels.reader.samples import reader_trial

PEOPLE, PLACES, EACH = 8, 8, 4
WENT = FIRST_WORD + PEOPLE + PLACES


def who_went_where(count: int, seed: int) -> QuestionTensors:
    """The document says "p went x" of four people and places; the query "_ went x" asks for p."""
    draw = Random(seed)
    documents, at, queries, answers = [], [], [], []
    for _ in range(count):
        people = draw.sample(range(PEOPLE), EACH)
        places = draw.sample(range(PLACES), EACH)
        numbers = draw.sample(range(EACH), EACH)
        for person, place, number in zip(people, places, numbers, strict=True):
            documents += [FIRST_WORD + person, WENT, FIRST_WORD + PEOPLE + place]
            at += [number, NO_CANDIDATE, NO_CANDIDATE]
        asked = draw.randrange(EACH)
        queries += [PLACEHOLDER, WENT, FIRST_WORD + PEOPLE + places[asked]]
        answers.append(numbers[asked])
    return QuestionTensors(
        document_ids=torch.tensor(documents, dtype=torch.int32),
        candidate_at=torch.tensor(at, dtype=torch.int32),
        document_offsets=torch.arange(count + 1) * 3 * EACH,
        query_ids=torch.tensor(queries, dtype=torch.int32),
        query_offsets=torch.arange(count + 1) * 3,
        candidate_counts=torch.full((count,), EACH),
        answers=torch.tensor(answers),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "steps"),
    [("query_gating", 1), ("query_gating", 3), ("adaptive_computation", 3)],
)
def test_looks_up_what_it_is_asked(strategy: str, steps: int) -> None:
    train, dev = who_went_where(800, 0), who_went_where(200, 1)
    config = reader_trial(
        strategy=strategy,
        steps=steps,
        memory_size=32,
        parameter_range=0.1,
        learning_rate=0.01,
        batch_size=32,
        pool_size=64,
        evaluation_batch_size=200,
        max_epochs=15,
        seed=1,  # one step learns it from some starts only
    )
    count = WENT + 1 - FIRST_WORD
    words = WordRows(torch.zeros(count, 16), torch.zeros(count, dtype=torch.bool))
    run = ReaderTraining(config, ReaderData(train, dev, words))
    assert most_frequent_accuracy(dev) == pytest.approx(0.25)
    assert any(record.dev_accuracy > 0.8 for record in run.epochs())
