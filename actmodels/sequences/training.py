"""Training on sequences: an epoch is a number of updates on data drawn from (seed, epoch)."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from actmodels.draws import generator, seed_of
from actmodels.figures import Figures, Marks
from actmodels.model_training import ModelTraining
from actmodels.sequences.act_rnn import ActRnn, Pondered
from actmodels.sequences.build import build_task
from actmodels.sequences.config import SequenceTrialConfig
from actmodels.sequences.scoring import Scored, adapt, evaluate, objective, score, sequence_marks
from actmodels.sequences.task import SequenceBatch


class Found(NamedTuple):
    """What a network makes of a batch."""

    pondered: Pondered
    scored: Scored


class SequenceTraining(ModelTraining[SequenceTrialConfig, ActRnn, SequenceBatch, Found]):
    """One trial in progress.

    Args:
        text: the bytes that characters are drawn from; the other tasks need none.
    """

    def __init__(
        self, config: SequenceTrialConfig, text: Tensor | None = None, device: str = "cpu"
    ) -> None:
        super().__init__(config, device)
        self.task = task = build_task(config.task, text)
        settings = config.training
        torch.manual_seed(seed_of("parameters", config.seed))
        self.model = ActRnn(task.inputs, task.outputs.size, config.network, config.halting)
        self.model.to(self.device)
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), lr=settings.learning_rate, fused=self.device.type == "cpu"
        )
        self.clip_norm = settings.clip_norm
        drawn = generator("dev sequences", settings.dev_seed)
        dev = task.sample_dev(settings.dev_sequences, drawn)
        self.dev: SequenceBatch = dev.to(self.device)

    @property
    def ponder_weight(self) -> float | Tensor | None:
        """See ModelTraining."""
        halting = self.model.halting
        return None if halting is None else halting.current_ponder_weight

    def batches(self, order: Generator) -> Iterator[SequenceBatch]:
        """Fresh sequences."""
        settings = self.config.training
        for _ in range(settings.updates_per_epoch):
            yield self.task.sample(settings.batch_size, order).to(self.device)

    def forward(self, batch: SequenceBatch) -> Found:
        """See ModelTraining."""
        pondered = self.model(batch.inputs, batch.mask)
        return Found(pondered, score(self.task.outputs, pondered.logits, batch))

    def objective(self, found: Found, batch: SequenceBatch) -> Tensor:
        """See ModelTraining."""
        return objective(found.scored, found.pondered, self.model.halting)

    def adapt(self, found: Found, batch: SequenceBatch) -> None:
        """See ModelTraining."""
        if self.model.halting is not None:
            adapt(self.model.halting, found.pondered, batch.mask)

    def marks(self, found: Found, batch: SequenceBatch) -> Marks:
        """See ModelTraining."""
        return sequence_marks(found.scored, found.pondered, batch, self.task.marked)

    def evaluated(self) -> Figures:
        """See ModelTraining."""
        at_a_time = self.config.training.batch_size
        found = evaluate(self.model, self.task.outputs, self.dev, at_a_time)
        return found.figures(self.task.marked)
