"""A reader learns to look something up in documents that it has not seen."""

from collections.abc import Callable, Iterable
from itertools import accumulate
from random import Random
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from actmodels.reader.data import ReaderData, WordRows
from actmodels.reader.model import Answer
from actmodels.reader.questions import (
    FIRST_WORD,
    NO_CANDIDATE,
    PLACEHOLDER,
    QuestionBatch,
    QuestionTensors,
    most_frequent_accuracy,
)
from actmodels.reader.training import ReaderTraining
from tests.actmodels.reader.samples import reader_trial

PEOPLE, PLACES, EACH = 8, 8, 4
WENT = FIRST_WORD + PEOPLE + PLACES
FEW, STATED = 4, 3  # people, places and colours that there are, and that a document speaks of

Question = tuple[list[tuple[int, int]], list[int], int]  # tokens and candidates; query; answer


def as_tensors(asked: Iterable[Question], candidates: int) -> QuestionTensors:
    documents, queries, answers = zip(*asked, strict=True)
    tokens = [token for document in documents for token in document]
    ids, at = (torch.tensor(column, dtype=torch.int32) for column in zip(*tokens, strict=True))
    return QuestionTensors(
        document_ids=ids,
        candidate_at=at,
        document_offsets=torch.tensor([0, *accumulate(map(len, documents))]),
        query_ids=torch.tensor([token for query in queries for token in query], dtype=torch.int32),
        query_offsets=torch.tensor([0, *accumulate(map(len, queries))]),
        candidate_counts=torch.full((len(answers),), candidates),
        answers=torch.tensor(answers),
    )


def who_went_where(draw: Random) -> Question:
    """The document says "p went x" of four people and places; the query "_ went x" asks for p."""
    people, places, numbers = (draw.sample(range(of), EACH) for of in (PEOPLE, PLACES, EACH))
    document = []
    for person, place, number in zip(people, places, numbers, strict=True):
        document += [(FIRST_WORD + person, number), (WENT, NO_CANDIDATE)]
        document += [(FIRST_WORD + PEOPLE + place, NO_CANDIDATE)]
    asked = draw.randrange(EACH)
    query = [PLACEHOLDER, WENT, FIRST_WORD + PEOPLE + places[asked]]
    return document, query, numbers[asked]


def of_what_colour(draw: Random) -> Question:
    """The document says "p x" and "x c" in any order: who is where, and the place's colour; the
    query "p _" asks for c, which stands beside x alone."""
    people, places, colours = (
        [FIRST_WORD + kind * FEW + number for number in draw.sample(range(FEW), STATED)]
        for kind in range(3)
    )
    numbers = draw.sample(range(STATED), STATED)
    facts = [[(p, NO_CANDIDATE), (x, NO_CANDIDATE)] for p, x in zip(people, places, strict=True)]
    for place, colour, number in zip(places, colours, numbers, strict=True):
        facts.append([(place, NO_CANDIDATE), (colour, number)])
    draw.shuffle(facts)
    asked = draw.randrange(STATED)
    return [token for fact in facts for token in fact], [people[asked], PLACEHOLDER], numbers[asked]


def learner(
    kind: type[ReaderTraining],
    asked: Callable[[Random], Question],
    candidates: int,
    count: int,
    words: int,
    **settings: Any,
) -> ReaderTraining:
    """A training on `count` questions, scored on others; words have no vectors of their own."""
    splits = ((count, Random(0)), (300, Random(1)))
    train, dev = (as_tensors((asked(d) for _ in range(n)), candidates) for n, d in splits)
    shape = {"memory_size": 32, "parameter_range": 0.1, "learning_rate": 0.01, "seed": 1}
    config = reader_trial(**shape, evaluation_batch_size=300, **settings)
    none = WordRows(torch.zeros(words, 16), torch.zeros(words, dtype=torch.bool))
    return kind(config, ReaderData(train, dev, none))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "steps"),
    [("query_gating", 1), ("query_gating", 3), ("adaptive_computation", 3)],
)
def test_looks_up_what_it_is_asked(strategy: str, steps: int) -> None:
    """One step learns it from some starts only."""
    how = {"strategy": strategy, "steps": steps, "batch_size": 32, "pool_size": 64}
    run = learner(
        ReaderTraining, who_went_where, EACH, 800, WENT + 1 - FIRST_WORD, max_epochs=15, **how
    )
    assert most_frequent_accuracy(run.dev) == pytest.approx(0.25)
    assert any(record.dev_accuracy > 0.8 for record in run.epochs())


class Shown(ReaderTraining):
    """Shows the first step where to look: at the place of who is asked for (docs/results.md)."""

    def forward(self, batch: QuestionBatch) -> Answer:
        answer, looked, _ = self.model.infer(batch)
        self.scores = looked[0].document_scores
        return answer

    def objective(self, found: Answer, batch: QuestionBatch) -> Tensor:
        place = (batch.document == batch.query[:, :1]).int().argmax(dim=1) + 1
        shown = cross_entropy(self.scores, place) * (self.model.steps > 1)
        return super().objective(found, batch) + shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "steps"),
    [("query_gating", 1), ("query_gating", 2), ("adaptive_computation", 2)],
)
def test_a_second_hop_takes_a_second_step(strategy: str, steps: int) -> None:
    """By rewriting its query the second step finds what stands beside what the first one found."""
    how = {"strategy": strategy, "steps": steps, "batch_size": 64, "pool_size": 128}
    how |= {"dropout": 0.0, "embedding_range": 0.1}
    run = learner(Shown, of_what_colour, STATED, 3000, 3 * FEW, max_epochs=20, **how)
    learned = any(record.dev_accuracy > 0.6 for record in run.epochs())  # chance: 0.33
    assert learned == (steps > 1)
