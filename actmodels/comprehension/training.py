"""Training a reader: an epoch at a time, resumed to the bit (Munkhdalai & Yu 2017 section 4.1)."""

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from actmodels.comprehension.batching import collate, pooled_batches
from actmodels.comprehension.config import ReadingConfig
from actmodels.comprehension.evaluation import ReaderEvaluation, evaluate
from actmodels.comprehension.questions import QuestionTensors
from actmodels.comprehension.reader import Answer, NseReader
from actmodels.errors import DataError
from actmodels.evaluation import mean_and_sd
from actmodels.losses import chosen
from actmodels.model_training import ModelTraining
from actmodels.modules.dropout import update_key
from actmodels.records import EpochRecord


class ReaderMeans:
    """Running figures of an epoch of training, of all its questions."""

    def __init__(self) -> None:
        self.parts: list[tuple[Tensor, Tensor, Tensor]] = []

    @torch.no_grad()
    def add(self, answer: Answer, answers: Tensor) -> None:
        """Take in one batch."""
        losses = -chosen(answer.log_probabilities, answers)
        right = answer.log_probabilities.argmax(dim=-1) == answers
        self.parts.append((losses.cpu(), right.cpu(), answer.steps.cpu()))

    @property
    def questions(self) -> int:
        """How many questions were trained on."""
        return sum(len(losses) for losses, _, _ in self.parts)

    def record(self, epoch: int, dev: ReaderEvaluation, seconds: float) -> EpochRecord:
        """What is recorded about the epoch; zeros for training if its first batch diverged."""
        empty = [(torch.zeros(1), torch.zeros(1), torch.zeros(1))]
        losses, right, steps = (torch.cat(c) for c in zip(*(self.parts or empty), strict=True))
        train_steps, dev_steps = mean_and_sd(steps), mean_and_sd(dev.steps)
        return EpochRecord(
            epoch=epoch,
            train_loss=losses.double().mean().item(),
            train_accuracy=right.double().mean().item(),
            train_mean_steps=train_steps[0],
            train_sd_steps=train_steps[1],
            train_ponder_cost=None,
            dev_loss=dev.loss,
            dev_accuracy=dev.accuracy,
            dev_mean_steps=dev_steps[0],
            dev_sd_steps=dev_steps[1],
            dev_ponder_cost=None,
            seconds=seconds,
            examples_per_second=self.questions / seconds,
        )


class ReaderTraining(ModelTraining[ReadingConfig, NseReader, ReaderMeans]):
    """One reader in training.

    Args:
        rows: word vectors as token ids index them at the start (`embedding_rows`).
        train, dev: the two splits. device: where the model lives, such as "cpu" or "cuda".

    Raises:
        DataError: a split has no questions, or training has too few for a single pool.
    """

    def __init__(
        self,
        config: ReadingConfig,
        rows: Tensor,
        train: QuestionTensors,
        dev: QuestionTensors,
        device: str = "cpu",
    ) -> None:
        super().__init__(config)
        settings = config.training
        if not (len(train) and len(dev)):
            raise DataError("a split without questions; both train and dev need some")
        if len(train) < settings.pool_size and not settings.keep_last:
            raise DataError(
                f"{len(train)} training questions fill no pool of {settings.pool_size}; "
                "lower pool_size or set keep_last"
            )
        self.train, self.dev = train, dev
        self.device = torch.device(device)
        self.model = NseReader(config.reader, rows, config.seed).to(self.device)
        trained = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.Adam(trained, lr=settings.learning_rate)

    @property
    def parameters(self) -> int:
        """Trained parameters without word vectors."""
        return self.model.parameter_count

    def measured(self, means: ReaderMeans, seconds: float) -> EpochRecord:
        """Score the dev questions, and give the epoch's record."""
        dev = evaluate(self.model, self.dev, self.config.training.evaluation_batch_size)
        return means.record(self.next_epoch, dev, seconds)

    def train_epoch(self) -> ReaderMeans:
        """Go through the epoch's batches; sets `diverged` and stops at a non-finite loss."""
        settings = self.config.training
        order = self.epoch_generator
        lengths = self.train.document_offsets.diff()
        means = ReaderMeans()
        self.model.train()
        batches = pooled_batches(
            lengths, settings.batch_size, settings.pool_size, settings.keep_last, order
        )
        for update, index in enumerate(batches):
            key = update_key(self.config.seed, self.next_epoch, update)
            self.model.dropout_stream.restart(key.to(self.device))
            batch = collate(self.train, index, self.device)
            answer = self.model(batch)
            objective = self.model.objective(answer, batch.answers)
            if not torch.isfinite(objective):
                self.diverged = True
                break
            self.optimizer.zero_grad(set_to_none=True)
            objective.backward()
            clip_grad_norm_(self.model.parameters(), settings.clip_norm)
            self.optimizer.step()
            means.add(answer, batch.answers)
        return means
