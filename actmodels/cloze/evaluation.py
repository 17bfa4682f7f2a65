"""What a reader does: figures of a split, and how it rewrites the query of one question."""

from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.cloze.model import Reader
from actmodels.cloze.questions import QuestionTensors, collate
from actmodels.cloze.write import QueryGating
from actmodels.metrics import Metrics, mean_and_sd
from actmodels.modules.attention import masked_softmax
from actmodels.prediction import chosen


class ReaderEvaluation(NamedTuple):
    """A reader on a split, per question [questions], in the split's order.

    predictions: number of the likeliest candidate, the first of equals. losses: -log P(right
    answer) in nats. steps: mean step of the answer. step_predictions: likeliest candidate after
    each step, and weights: the share of each step in the answer [questions, steps].
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
    def metrics(self) -> Metrics:
        return Metrics(self.loss, self.accuracy, *mean_and_sd(self.steps), None)


@torch.no_grad()
def evaluate(model: Reader, questions: QuestionTensors, batch_size: int) -> ReaderEvaluation:
    """Answer every question of a split without dropout."""
    model.eval()
    device = next(model.parameters()).device
    parts: list[tuple[Tensor, ...]] = []
    by_length = torch.argsort(questions.document_offsets.diff(), stable=True)
    for index in by_length.split(batch_size):
        batch = collate(questions, index, device)
        answer = model(batch)
        logs = answer.log_probabilities
        losses, steps = -chosen(logs, batch.answers), answer.step_log_probabilities.argmax(dim=-1)
        figures = (logs.argmax(dim=-1), losses, answer.steps, steps, answer.weights)
        parts.append((index, *(figure.cpu() for figure in figures)))
    rows, *values = (torch.cat(column) for column in zip(*parts, strict=True))
    predictions, losses, *of_steps = (value[torch.argsort(rows)] for value in values)
    return ReaderEvaluation(predictions, losses, questions.answers, *of_steps)


class QueryTrace(NamedTuple):
    """One question.

    keys: z_t of each query word [steps, query tokens]; near 0 where it is rewritten.
    gates: g_t [steps - 1, query tokens], near 1 where the old word is kept; None without gates.
    halting: e_t [steps - 1]; None where nothing halts. The last step writes nothing.
    weights: share of each step in the answer [steps]. attention: [steps, document tokens].
    step_probabilities: P_t [steps, candidates]. probabilities: of the answer [candidates].
    """

    keys: Tensor
    gates: Tensor | None
    halting: Tensor | None
    weights: Tensor
    attention: Tensor
    step_probabilities: Tensor
    probabilities: Tensor


@torch.no_grad()
def trace_query(model: Reader, questions: QuestionTensors, number: int) -> QueryTrace:
    """Follow question `number` of a split through a reader, without dropout (appendix A)."""
    model.eval()
    device = next(model.parameters()).device
    batch = collate(questions, torch.tensor([number]), device)
    answer = model(batch)
    gates = torch.stack([one[0] for one in answer.gates]) if answer.gates else None
    gated = isinstance(model.test, QueryGating)
    reads, mask = answer.reads, batch.document_mask
    attention = [masked_softmax(one.document_scores, mask)[0] for one in reads]
    return QueryTrace(
        torch.stack([one.key[0] for one in reads]),
        gates if gated else None,
        None if gated else gates,
        answer.weights[0],
        torch.stack(attention),
        answer.step_log_probabilities[0].exp(),
        answer.log_probabilities[0].exp(),
    )
