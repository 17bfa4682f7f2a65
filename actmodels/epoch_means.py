"""Figures of an epoch, summed over its batches, of one trial or of each trial of a pack."""

from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.data.pairs import FILLER
from actmodels.evaluation import Evaluation, mean_and_sd
from actmodels.losses import cross_entropies
from actmodels.models.prediction import Prediction
from actmodels.records import EpochRecord


class _Batch(NamedTuple):
    """What is kept of a batch, on the device: losses and hits are sums over examples."""

    loss: Tensor
    correct: Tensor
    examples: Tensor
    labels: Tensor
    steps: Tensor | None
    ponder: Tensor | None


class EpochMeans:
    """Running figures of an epoch of training; summed once, at its end."""

    def __init__(self) -> None:
        self.batches: list[_Batch] = []

    @torch.no_grad()
    def add(self, prediction: Prediction, labels: Tensor) -> None:
        """Take in one batch; rows with the label FILLER do not count."""
        real = labels != FILLER
        loss = torch.where(real, cross_entropies(prediction.logits, labels), 0.0)
        correct = (prediction.logits.argmax(dim=-1) == labels).sum(dim=-1)
        steps, ponder = prediction.steps, prediction.ponder_cost
        self.batches.append(
            _Batch(
                loss.sum(dim=-1),
                correct,
                real.sum(dim=-1),
                labels,
                None if steps is None else steps.detach(),
                None if ponder is None else ponder.detach(),
            )
        )

    def examples(self, trial: int | None = None) -> int:
        """How many examples were trained on."""
        counts = [own(batch.examples, trial) for batch in self.batches]
        return int(torch.stack(counts).sum()) if counts else 0

    def summary(self, trial: int | None = None) -> dict[str, float | None]:
        """The train fields of the epoch's record; zeros if its first batch diverged.

        Args:
            trial: which one of a pack; None if there is no pack.
        """
        count = max(self.examples(trial), 1)

        def total(values: list[Tensor]) -> float:
            return torch.stack(values).double().sum().item() if values else 0.0

        mean_steps, sd_steps = mean_and_sd(self._of_examples("steps", trial))
        return {
            "train_loss": total([own(batch.loss, trial) for batch in self.batches]) / count,
            "train_accuracy": total([own(batch.correct, trial) for batch in self.batches]) / count,
            "train_mean_steps": mean_steps,
            "train_sd_steps": sd_steps,
            "train_ponder_cost": mean_and_sd(self._of_examples("ponder", trial))[0],
        }

    def _of_examples(self, name: str, trial: int | None) -> Tensor | None:
        """All examples' values of one kind, None where there are none."""
        given = [getattr(batch, name) for batch in self.batches]
        if not given or given[0] is None:
            return None
        values = torch.cat([own(part, trial) for part in given])
        labels = torch.cat([own(batch.labels, trial) for batch in self.batches])
        values = values[labels != FILLER]
        return values if values.numel() else None


def own(values: Tensor, trial: int | None) -> Tensor:
    """One trial's values of a pack's; all of them where there is no pack."""
    return values if trial is None else values[trial]


def epoch_record(
    epoch: int,
    train: dict[str, float | None],
    dev: Evaluation,
    *,
    ponder_weight: float | None,
    seconds: float,
    examples: int,
) -> EpochRecord:
    """Put together what is recorded about an epoch."""
    mean_steps, sd_steps = mean_and_sd(dev.steps)
    return EpochRecord(
        epoch=epoch,
        **train,  # type: ignore[arg-type]
        dev_loss=dev.loss,
        dev_accuracy=dev.accuracy,
        dev_mean_steps=mean_steps,
        dev_sd_steps=sd_steps,
        dev_ponder_cost=mean_and_sd(dev.ponder_cost)[0],
        ponder_weight=ponder_weight,
        seconds=seconds,
        examples_per_second=examples / seconds,
    )
