"""A reader learns a task of two hops, and answers it in unseen documents."""

from random import Random

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from studies.cloze.data import (
    FIRST_WORD,
    NO_CANDIDATE,
    PLACEHOLDER,
    QuestionBatch,
    ReaderData,
    WordRows,
)
from studies.cloze.model import Answer
from studies.cloze.training import ReaderTraining
from tests.studies.cloze.samples import Question, as_tensors, reader_trial

EXISTING, STATED = 4, 3  # people, places and colors in all, and in a document


def color_question(draw: Random) -> Question:
    """The document has "p x" and "x c" in any order (a person's place, the place's color). The
    answer to the query "p _" is c, which is next to x only."""
    people, places, colors = (
        [FIRST_WORD + group * EXISTING + number for number in draw.sample(range(EXISTING), STATED)]
        for group in range(3)
    )
    numbers = draw.sample(range(STATED), STATED)
    facts = [[(p, NO_CANDIDATE), (x, NO_CANDIDATE)] for p, x in zip(people, places, strict=True)]
    for place, color, number in zip(places, colors, numbers, strict=True):
        facts.append([(place, NO_CANDIDATE), (color, number)])
    draw.shuffle(facts)
    person = draw.randrange(STATED)
    document = [token for fact in facts for token in fact]
    return document, [people[person], PLACEHOLDER], STATED, numbers[person]


class SupervisedFirstStep(ReaderTraining):
    """Train the first step to attend to the place of the queried person (docs/results.md)."""

    def forward(self, batch: QuestionBatch) -> Answer:
        answer = super().forward(batch)
        self.scores = answer.reads[0].document_scores
        return answer

    def objective(self, answer: Answer, batch: QuestionBatch) -> Tensor:
        place = (batch.document == batch.query[:, :1]).int().argmax(dim=1) + 1
        first_step = cross_entropy(self.scores, place) * (self.model.steps > 1)
        return super().objective(answer, batch) + first_step


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "steps"),
    [("query_gating", 1), ("query_gating", 2), ("adaptive_computation", 2)],
)
def test_a_second_hop_takes_a_second_step(strategy: str, steps: int) -> None:
    """With the updated query, the second step finds the word next to the one of the first step."""
    shape = {"memory_size": 32, "parameter_range": 0.1, "learning_rate": 0.01, "seed": 1}
    batches = {"batch_size": 64, "pool_size": 128, "evaluation_batch_size": 300}
    how = {"strategy": strategy, "steps": steps, "dropout": 0.0, "embedding_range": 0.1}
    config = reader_trial(**shape, **batches, **how, max_epochs=20)
    train, dev = (
        as_tensors(color_question(draws) for _ in range(count))
        for count, draws in ((3000, Random(0)), (300, Random(1)))
    )
    none = WordRows(torch.zeros(3 * EXISTING, 16), torch.zeros(3 * EXISTING, dtype=torch.bool))
    run = SupervisedFirstStep(config, ReaderData(train, dev, none))
    learned = any(record.dev_accuracy > 0.6 for record in run.epochs())  # chance: 0.33
    assert learned == (steps > 1)
