"""Training of a reader (Munkhdalai & Yu 2017, section 4.1)."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from actmodels.cloze.config import ReaderTrialConfig
from actmodels.cloze.data import QuestionBatch, ReaderData, collate, embedding_rows, pooled_batches
from actmodels.cloze.evaluation import evaluate
from actmodels.cloze.model import Answer, Reader
from actmodels.errors import DataError
from actmodels.metrics import BatchMetrics, Metrics
from actmodels.model_training import ModelTraining
from actmodels.prediction import chosen


class ReaderTraining(ModelTraining[ReaderTrialConfig, Reader, QuestionBatch, Answer]):
    """The training of one reader.

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
        rows = embedding_rows(config, data.words)
        self.model = Reader(config.reader, rows, config.seed).to(self.device)
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

    def marks(self, answer: Answer, batch: QuestionBatch) -> BatchMetrics:
        logs, count = answer.log_probabilities, torch.tensor(len(batch.answers))
        correct = (logs.argmax(dim=-1) == batch.answers).sum()
        losses = -chosen(logs, batch.answers)
        return BatchMetrics(losses.cpu(), count, correct, count, count, answer.steps.cpu(), None)

    def evaluated(self) -> Metrics:
        size = self.config.training.evaluation_batch_size
        return evaluate(self.model, self.dev, size).metrics
