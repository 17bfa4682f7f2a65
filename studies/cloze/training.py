"""Training and evaluation of a reader, and the trace of one question (Munkhdalai & Yu 2017)."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from actmodels.errors import DataError
from actmodels.metrics import BatchMetrics, Metrics, mean_and_sd
from actmodels.model_training import ModelTraining
from actmodels.modules.attention import masked_softmax
from actmodels.prediction import label_losses
from studies.cloze.config import ReaderTrialConfig
from studies.cloze.data import (
    QuestionBatch,
    QuestionTensors,
    ReaderData,
    collate,
    initial_embeddings,
    pooled_batches,
)
from studies.cloze.memory import QueryGating
from studies.cloze.model import Answer, Reader


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
        losses = label_losses(logs, batch.answers)
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


class ReaderTraining(ModelTraining[ReaderTrialConfig, Reader, QuestionBatch, Answer]):
    """The training of one reader (section 4.1).

    Raises:
        DataError: a split is empty, or too small for a pool.
    """

    def __init__(self, config: ReaderTrialConfig, data: ReaderData, device: str = "cpu") -> None:
        super().__init__(config, device)
        settings, train, dev = config.training, data.train, data.dev
        if not (len(train) and len(dev)):
            raise DataError("a split has no questions: train and dev need at least one each")
        if len(train) < settings.pool_size and not settings.keep_last:
            raise DataError(
                f"{len(train)} training questions fill no pool of {settings.pool_size}; "
                "lower pool_size or set keep_last"
            )
        self.train, self.dev = train, dev
        vectors = initial_embeddings(config, data.words)
        self.model = Reader(config.reader, vectors, config.seed).to(self.device)
        trained = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.Adam(trained, lr=settings.learning_rate)
        self.clip_norm = settings.clip_norm
        self.dropout = self.model.dropout_stream

    @property
    def parameters(self) -> int:
        """Number of trained parameters without word vectors."""
        return sum(parameter.numel() for parameter in self.model.drawn)

    def batches(self, order: Generator) -> Iterator[QuestionBatch]:
        settings, lengths = self.config.training, self.train.document_offsets.diff()
        for index in pooled_batches(
            lengths, settings.batch_size, settings.pool_size, settings.keep_last, order
        ):
            yield collate(self.train, index, self.device)

    def objective(self, answer: Answer, batch: QuestionBatch) -> Tensor:
        return self.model.objective(answer, batch.answers)

    def outcome(self, answer: Answer, batch: QuestionBatch) -> BatchMetrics:
        logs, count = answer.log_probabilities, torch.tensor(len(batch.answers))
        correct = (logs.argmax(dim=-1) == batch.answers).sum()
        losses = label_losses(logs, batch.answers)
        return BatchMetrics(losses.cpu(), count, correct, count, count, answer.steps.cpu(), None)

    def dev_metrics(self) -> Metrics:
        size = self.config.training.evaluation_batch_size
        return evaluate(self.model, self.dev, size).metrics
