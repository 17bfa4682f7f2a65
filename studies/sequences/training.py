"""Training and evaluation on sequences; the data of an epoch are drawn from (seed, epoch)."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from actmodels.data.pairs import FILLER
from actmodels.halting.base import Objective
from actmodels.metrics import BatchMetrics, EpochMetrics, Metrics
from actmodels.model_training import ModelTraining
from actmodels.models.act_rnn import ActRnn, Pondered
from actmodels.prediction import Prediction
from actmodels.seeding import generator, seed_of
from studies.sequences.config import CharactersConfig, SequenceTrialConfig, TaskConfig
from studies.sequences.drawn_tasks import DRAWN_TASKS, Characters, read_bytes
from studies.sequences.task import AccuracyUnit, Outputs, SequenceBatch, Task


def build_task(config: TaskConfig, text: Tensor | None = None, source: str = "text") -> Task:
    """Build a task; only characters need a text [bytes] and, for messages, its source."""
    if isinstance(config, CharactersConfig):
        assert text is not None
        return Characters(config, text, source)
    return DRAWN_TASKS[type(config)](config)


def trial_text(
    config: SequenceTrialConfig, folder: Path, text: Path | None = None
) -> Tensor | None:
    """Load the text of a trial, None if its data are drawn; see BaseTrialConfig."""
    if not isinstance(config.task, CharactersConfig):
        return None
    assert text is not None
    return read_bytes(text)


class SequenceEvaluation(NamedTuple):
    """Loss in nats (all heads) and mistakes of each input [batch, time]; 0 without a target."""

    losses: Tensor
    wrong: Tensor
    pondered: Pondered
    batch: SequenceBatch

    def objective(self, halting: Objective) -> Tensor:
        """Return the mean over sequences of loss + ponder weight · ponder cost (eq. 10-12)."""
        _, _, ponder_cost, answer = self.pondered
        if answer is not None:
            return halting.objective(answer, self.batch.targets[:, 0, 0])
        per_sequence, weight = self.losses.sum(dim=1), halting.current_ponder_weight
        if weight is not None and ponder_cost is not None:
            per_sequence = per_sequence + weight * ponder_cost.sum(dim=1)
        return per_sequence.mean()

    def batch_metrics(self, accuracy_unit: AccuracyUnit) -> BatchMetrics:
        """Sum a batch: losses over targets, steps over inputs, correct sequences or targets."""
        mask, (_, steps, ponder, _) = self.batch.target_mask, self.pondered
        correct = ~self.wrong[mask] if accuracy_unit == "target" else ~self.wrong.any(dim=1)
        total, examples = torch.tensor(correct.numel()), torch.tensor(len(mask))
        sums = (self.losses.sum(), mask.sum(), correct.sum())
        return BatchMetrics(*sums, total, examples, steps, ponder, self.batch.mask)

    def metrics(self, accuracy_unit: AccuracyUnit) -> Metrics:
        means = EpochMetrics()
        means.add(self.batch_metrics(accuracy_unit))
        return means.metrics()


def score(outputs: Outputs, pondered: Pondered, batch: SequenceBatch) -> SequenceEvaluation:
    """Compare the output of a network with the targets."""
    losses = outputs.losses(pondered.logits, batch.targets) * batch.target_mask
    wrong = (outputs.decisions(pondered.logits) != batch.targets).any(dim=-1) & batch.target_mask
    return SequenceEvaluation(losses, wrong, pondered, batch)


@torch.no_grad()
def evaluate(
    model: ActRnn, outputs: Outputs, sequences: SequenceBatch, batch_size: int
) -> SequenceEvaluation:
    """Score sequences; the batch size changes no result."""
    model.eval()
    split = zip(*(part.split(batch_size) for part in sequences), strict=True)
    batches = [SequenceBatch(*parts) for parts in split]
    scored = [score(outputs, model(batch.inputs, batch.mask), batch) for batch in batches]
    losses, wrong, pondered, _ = zip(*scored, strict=True)
    columns = list(zip(*pondered, strict=True))[:3]  # logits, steps, ponder cost
    joined = Pondered(*(None if c[0] is None else torch.cat(c) for c in columns))  # type: ignore[arg-type]
    return SequenceEvaluation(torch.cat(losses), torch.cat(wrong), joined, sequences)


class SequenceTraining(
    ModelTraining[SequenceTrialConfig, ActRnn, SequenceBatch, SequenceEvaluation]
):
    """The training of one trial; only characters need a text [bytes]."""

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
        draws = generator("dev sequences", settings.dev_seed)
        self.dev = task.sample_dev(settings.dev_sequences, draws).to(self.device)

    @property
    def ponder_weight(self) -> float | Tensor | None:
        return self.model.halting.current_ponder_weight

    def batches(self, order: Generator) -> Iterator[SequenceBatch]:
        settings = self.config.training
        for _ in range(settings.updates_per_epoch):
            yield self.task.sample(settings.batch_size, order).to(self.device)

    def forward(self, batch: SequenceBatch) -> SequenceEvaluation:
        return score(self.task.outputs, self.model(batch.inputs, batch.mask), batch)

    def objective(self, scored: SequenceEvaluation, batch: SequenceBatch) -> Tensor:
        return scored.objective(self.model.halting)

    def on_update_end(self, scored: SequenceEvaluation, batch: SequenceBatch) -> None:
        """Report the steps of every input to the halting, which may adapt its ponder weight."""
        logits, steps, _, _ = scored.pondered
        if steps is not None:
            labels = torch.where(batch.mask, 0, FILLER).flatten()
            self.model.halting.on_update_end(Prediction(logits, steps.flatten()), labels)

    def outcome(self, scored: SequenceEvaluation, batch: SequenceBatch) -> BatchMetrics:
        return scored.batch_metrics(self.task.accuracy_unit)

    def dev_metrics(self) -> Metrics:
        batch_size, accuracy_unit = self.config.training.batch_size, self.task.accuracy_unit
        return evaluate(self.model, self.task.outputs, self.dev, batch_size).metrics(accuracy_unit)
