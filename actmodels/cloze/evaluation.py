"""Evaluate a reader on a split, and trace how it updates the query of one question."""

from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.cloze.data import QuestionTensors, collate
from actmodels.cloze.memory import QueryGating
from actmodels.cloze.model import Reader
from actmodels.metrics import Metrics, mean_and_sd
from actmodels.modules.attention import masked_softmax
from actmodels.prediction import chosen


class ReaderEvaluation(NamedTuple):
    """Results of a reader on a split, in the order of its questions."""

    predictions: Tensor  # index of the most probable candidate, the first of equals [questions]
    losses: Tensor  # -log P(correct candidate) in nats [questions]
    answers: Tensor  # index of the correct candidate [questions]
    steps: Tensor  # mean step of the answer [questions]
    step_predictions: Tensor  # most probable candidate after each step [questions, steps]
    weights: Tensor  # weight of each step in the answer [questions, steps]

    @property
    def accuracy(self) -> float:
        """Accuracy in [0, 1]."""
        return (self.predictions == self.answers).double().mean().item()

    @property
    def loss(self) -> float:
        """Mean loss in nats."""
        return self.losses.double().mean().item()

    @property
    def metrics(self) -> Metrics:
        return Metrics(self.loss, self.accuracy, *mean_and_sd(self.steps), None)


@torch.no_grad()
def evaluate(model: Reader, questions: QuestionTensors, batch_size: int) -> ReaderEvaluation:
    """Answer all questions of a split without dropout."""
    model.eval()
    device = next(model.parameters()).device
    parts: list[tuple[Tensor, ...]] = []
    by_length = torch.argsort(questions.document_offsets.diff(), stable=True)
    for index in by_length.split(batch_size):
        batch = collate(questions, index, device)
        answer = model(batch)
        logs, step_logs = answer.log_probabilities, answer.step_log_probabilities
        losses = -chosen(logs, batch.answers)
        best, step_best = logs.argmax(dim=-1), step_logs.argmax(dim=-1)
        parts.append((best, losses, answer.steps, step_best, answer.weights))
    original = torch.argsort(by_length)
    columns = (torch.cat(column).cpu()[original] for column in zip(*parts, strict=True))
    predictions, losses, *step_columns = columns
    return ReaderEvaluation(predictions, losses, questions.answers, *step_columns)


class QueryTrace(NamedTuple):
    """Every step of a reader on one question; the last step writes no query."""

    keys: Tensor  # z_t of each query word [steps, query tokens], near 0 where it is overwritten
    # g_t [steps - 1, query tokens], near 1 where the old word is kept; None without gates
    gates: Tensor | None
    halting: Tensor | None  # e_t [steps - 1]; None without halting
    weights: Tensor  # weight of each step in the answer [steps]
    attention: Tensor  # attention over the document [steps, document tokens]
    step_probabilities: Tensor  # P_t [steps, candidates]
    probabilities: Tensor  # P [candidates]


@torch.no_grad()
def trace_query(model: Reader, questions: QuestionTensors, number: int) -> QueryTrace:
    """Trace a reader on question `number` of a split, without dropout (appendix A)."""
    model.eval()
    device = next(model.parameters()).device
    batch = collate(questions, torch.tensor([number]), device)
    answer = model(batch)
    gates = torch.cat(answer.gates) if answer.gates else None
    gated = isinstance(model.test, QueryGating)
    scores = torch.cat([read.document_scores for read in answer.reads])
    return QueryTrace(
        torch.cat([read.key for read in answer.reads]),
        gates if gated else None,
        None if gated else gates,
        answer.weights[0],
        masked_softmax(scores, batch.document_mask),
        answer.step_log_probabilities[0].exp(),
        answer.log_probabilities[0].exp(),
    )
