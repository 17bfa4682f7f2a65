"""Measuring a reader on a split of questions."""

from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.figures import Figures, mean_and_sd
from actmodels.losses import chosen
from actmodels.reader.batching import batches_by_length, collate
from actmodels.reader.model import Reader
from actmodels.reader.questions import QuestionTensors


class ReaderEvaluation(NamedTuple):
    """A reader on a split, per question, in the split's order.

    predictions: the number of the likeliest candidate [questions]; the first of equals.
    losses: -log P(right answer) in nats [questions].
    answers: [questions]. steps: the mean step of each answer [questions].
    step_predictions: the likeliest candidate after each step [questions, steps].
    weights: what each step counts in the answer [questions, steps].
    """

    predictions: Tensor
    losses: Tensor
    answers: Tensor
    steps: Tensor
    step_predictions: Tensor
    weights: Tensor

    @property
    def accuracy(self) -> float:
        """Share of right answers, in [0, 1]."""
        return (self.predictions == self.answers).double().mean().item()

    @property
    def loss(self) -> float:
        """Mean loss in nats."""
        return self.losses.double().mean().item()

    @property
    def figures(self) -> Figures:
        """All of it in a few numbers."""
        return Figures(self.loss, self.accuracy, *mean_and_sd(self.steps), None)


@torch.no_grad()
def evaluate(model: Reader, questions: QuestionTensors, batch_size: int) -> ReaderEvaluation:
    """Answer every question of a split without dropout."""
    model.eval()
    device = next(model.parameters()).device
    parts: list[tuple[Tensor, ...]] = []
    for index in batches_by_length(questions.document_offsets.diff(), batch_size):
        batch = collate(questions, index, device)
        answer = model(batch)
        logs = answer.log_probabilities
        losses, steps = -chosen(logs, batch.answers), answer.step_log_probabilities.argmax(dim=-1)
        figures = (logs.argmax(dim=-1), losses, answer.steps, steps, answer.weights)
        parts.append((index, *(figure.cpu() for figure in figures)))
    rows, *values = (torch.cat(column) for column in zip(*parts, strict=True))
    predictions, losses, *of_steps = (value[torch.argsort(rows)] for value in values)
    return ReaderEvaluation(predictions, losses, questions.answers, *of_steps)
