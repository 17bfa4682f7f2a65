"""Training a reader (Munkhdalai & Yu 2017 section 4.1), and measuring it on a split."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from actmodels.errors import DataError
from actmodels.figures import Figures, Marks, mean_and_sd
from actmodels.model_training import ModelTraining
from actmodels.prediction import chosen
from actmodels.reader.config import ReaderTrialConfig
from actmodels.reader.model import Answer, Reader
from actmodels.reader.questions import (
    QuestionBatch,
    QuestionTensors,
    batches_by_length,
    collate,
    pooled_batches,
)


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


class ReaderTraining(ModelTraining[ReaderTrialConfig, Reader, QuestionBatch, Answer]):
    """One reader in training.

    Args:
        rows: word vectors as token ids index them at the start (`embedding_rows`).
        train, dev: the two splits.

    Raises:
        DataError: a split has no questions, or training has too few for a single pool.
    """

    def __init__(
        self,
        config: ReaderTrialConfig,
        rows: Tensor,
        train: QuestionTensors,
        dev: QuestionTensors,
        device: str = "cpu",
    ) -> None:
        super().__init__(config, device)
        settings = config.training
        if not (len(train) and len(dev)):
            raise DataError("a split without questions; both train and dev need some")
        if len(train) < settings.pool_size and not settings.keep_last:
            raise DataError(
                f"{len(train)} training questions fill no pool of {settings.pool_size}; "
                "lower pool_size or set keep_last"
            )
        self.train, self.dev = train, dev
        self.model = Reader(config.reader, rows, config.seed).to(self.device)
        trained = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.Adam(trained, lr=settings.learning_rate)
        self.clip_norm = settings.clip_norm
        self.dropout = self.model.dropout_stream

    @property
    def parameters(self) -> int:
        """Trained parameters without word vectors."""
        return self.model.parameter_count

    def batches(self, order: Generator) -> Iterator[QuestionBatch]:
        """The published batches: documents of like length."""
        settings, lengths = self.config.training, self.train.document_offsets.diff()
        for index in pooled_batches(
            lengths, settings.batch_size, settings.pool_size, settings.keep_last, order
        ):
            yield collate(self.train, index, self.device)

    def forward(self, batch: QuestionBatch) -> Answer:
        """See ModelTraining."""
        answer: Answer = self.model(batch)
        return answer

    def objective(self, found: Answer, batch: QuestionBatch) -> Tensor:
        """See ModelTraining."""
        return self.model.objective(found, batch.answers)

    def marks(self, found: Answer, batch: QuestionBatch) -> Marks:
        """See ModelTraining."""
        logs, count = found.log_probabilities, torch.tensor(len(batch.answers))
        right = (logs.argmax(dim=-1) == batch.answers).sum()
        losses = -chosen(logs, batch.answers)
        return Marks(losses.cpu(), count, right, count, count, found.steps.cpu(), None)

    def evaluated(self) -> Figures:
        """See ModelTraining."""
        size = self.config.training.evaluation_batch_size
        return evaluate(self.model, self.dev, size).figures
