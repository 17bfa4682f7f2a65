"""Training on sequences, and scoring: an epoch is updates on data drawn from (seed, epoch)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor

from actmodels.data.pairs import FILLER
from actmodels.halting.base import Halting
from actmodels.metrics import BatchMetrics, EpochMetrics, Metrics
from actmodels.model_training import ModelTraining
from actmodels.prediction import Prediction
from actmodels.seeding import generator, seed_of
from actmodels.sequences.act_rnn import ActRnn, Pondered
from actmodels.sequences.bits import Logic, Parity
from actmodels.sequences.characters import Characters, read_bytes
from actmodels.sequences.config import TASKS, CharactersConfig, SequenceTrialConfig, TaskConfig
from actmodels.sequences.numbers import Addition, Sort
from actmodels.sequences.task import Marked, Outputs, SequenceBatch, Task

_DRAWN = {"parity": Parity, "logic": Logic, "addition": Addition, "sort": Sort}
DRAWN: dict[type, Any] = {TASKS[name]: task for name, task in _DRAWN.items()}


def build_task(config: TaskConfig, text: Tensor | None = None, source: str = "text") -> Task:
    """Make a task; characters alone need the text's bytes and its `source`, for messages."""
    if isinstance(config, CharactersConfig):
        assert text is not None
        return Characters(config, text, source)
    return DRAWN[type(config)](config)


def trial_text(
    config: SequenceTrialConfig, folder: Path, text: Path | None = None
) -> Tensor | None:
    """What a trial is trained on, where it is not drawn; see actmodels.trial_types."""
    if not isinstance(config.task, CharactersConfig):
        return None
    assert text is not None
    return read_bytes(text)


class SequenceEvaluation(NamedTuple):
    """Joint cross-entropy in nats and mistakes of each input [batch, time]; 0 without target."""

    losses: Tensor
    wrong: Tensor
    pondered: Pondered
    batch: SequenceBatch

    def objective(self, halting: Halting | None) -> Tensor:
        """Mean over sequences of loss + ponder weight · ponder cost (Graves eq. 10-12)."""
        _, _, ponder_cost, answer = self.pondered
        if halting is not None and answer is not None:
            return halting.objective(answer, self.batch.targets[:, 0, 0])
        per_sequence = self.losses.sum(dim=1)
        weight = None if halting is None else halting.current_ponder_weight
        if weight is not None and ponder_cost is not None:
            per_sequence = per_sequence + weight * ponder_cost.sum(dim=1)
        return per_sequence.mean()

    def marks(self, marked: Marked) -> BatchMetrics:
        """Sums for figures.

        Losses are per target, joint over heads. Accuracy is a share of sequences, which are right
        without any mistake, or of single targets (`marked`). Steps are those of all inputs.
        """
        mask, (_, steps, ponder, _) = self.batch.target_mask, self.pondered
        right = ~self.wrong[mask] if marked == "target" else ~self.wrong.any(dim=1)
        asked, examples = torch.tensor(right.numel()), torch.tensor(len(mask))
        sums = (self.losses.sum(), mask.sum(), right.sum())
        return BatchMetrics(*sums, asked, examples, steps, ponder, self.batch.mask)

    def metrics(self, marked: Marked) -> Metrics:
        means = EpochMetrics()
        means.add(self.marks(marked))
        return means.metrics()


def score(outputs: Outputs, pondered: Pondered, batch: SequenceBatch) -> SequenceEvaluation:
    """Compare the outputs of a network with the targets."""
    losses = outputs.losses(pondered.logits, batch.targets) * batch.target_mask
    wrong = (outputs.decisions(pondered.logits) != batch.targets).any(dim=-1) & batch.target_mask
    return SequenceEvaluation(losses, wrong, pondered, batch)


@torch.no_grad()
def evaluate(
    model: ActRnn, outputs: Outputs, sequences: SequenceBatch, at_a_time: int
) -> SequenceEvaluation:
    """Score sequences, some at a time; how many changes nothing."""
    model.eval()
    split = zip(*(part.split(at_a_time) for part in sequences), strict=True)
    parts = [SequenceBatch(*part) for part in split]
    scored = [score(outputs, model(part.inputs, part.mask), part) for part in parts]
    losses, wrong, read, _ = zip(*scored, strict=True)
    logits, steps, ponder_cost, _ = zip(*read, strict=True)

    columns = ((None if c[0] is None else torch.cat(c)) for c in (logits, steps, ponder_cost))
    pondered = Pondered(*columns)  # type: ignore[arg-type]
    return SequenceEvaluation(torch.cat(losses), torch.cat(wrong), pondered, sequences)


class SequenceTraining(
    ModelTraining[SequenceTrialConfig, ActRnn, SequenceBatch, SequenceEvaluation]
):
    """One trial in progress; characters alone need the text's bytes."""

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
        halting = self.model.halting
        return None if halting is None else halting.current_ponder_weight

    def batches(self, order: Generator) -> Iterator[SequenceBatch]:
        settings = self.config.training
        for _ in range(settings.updates_per_epoch):
            yield self.task.sample(settings.batch_size, order).to(self.device)

    def forward(self, batch: SequenceBatch) -> SequenceEvaluation:
        return score(self.task.outputs, self.model(batch.inputs, batch.mask), batch)

    def objective(self, found: SequenceEvaluation, batch: SequenceBatch) -> Tensor:
        return found.objective(self.model.halting)

    def on_update_end(self, found: SequenceEvaluation, batch: SequenceBatch) -> None:
        """Each input is an example to a halting that watches its steps."""
        pondered, halting = found.pondered, self.model.halting
        if halting is not None and pondered.steps is not None:
            labels = torch.where(batch.mask, 0, FILLER).flatten()
            halting.on_update_end(
                Prediction(pondered.logits, steps=pondered.steps.flatten()), labels
            )

    def marks(self, found: SequenceEvaluation, batch: SequenceBatch) -> BatchMetrics:
        return found.marks(self.task.marked)

    def evaluated(self) -> Metrics:
        at_a_time = self.config.training.batch_size
        found = evaluate(self.model, self.task.outputs, self.dev, at_a_time)
        return found.metrics(self.task.marked)
