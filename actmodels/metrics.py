"""Figures of an epoch, summed over its batches, of one trial or of each trial of a fusion."""

from typing import NamedTuple

import torch
from torch import Tensor


class Metrics(NamedTuple):
    """The figures of EpochRecord; those of steps are None where the model does not halt."""

    loss: float
    accuracy: float
    mean_steps: float | None
    sd_steps: float | None
    ponder_cost: float | None


class BatchMetrics(NamedTuple):
    """Sums of a batch; when fused each with the trials in front.

    losses: in nats [] or [examples]; their sum is divided by that of `targets` []. right, asked:
    right answers of all answers. examples: trained on []. steps, ponder_cost: any shape; None
    without halting. real: which of these count, the same shape; None for all.
    """

    losses: Tensor
    targets: Tensor
    right: Tensor
    asked: Tensor
    examples: Tensor
    steps: Tensor | None
    ponder_cost: Tensor | None
    real: Tensor | None = None


class EpochMetrics:
    """Running figures; summed once, at the end."""

    def __init__(self) -> None:
        self.batches: list[BatchMetrics] = []

    def add(self, marks: BatchMetrics) -> None:
        """Take in one batch, without its gradients."""
        self.batches.append(BatchMetrics(*(None if v is None else v.detach() for v in marks)))  # type: ignore[arg-type]

    def examples(self, trial: int | None = None) -> int:
        return int(self._sum("examples", trial))

    def metrics(self, trial: int | None = None) -> Metrics:
        """Means over all batches, of one `trial` of a fusion; zeros if the first batch diverged."""
        return Metrics(
            self._sum("losses", trial) / max(self._sum("targets", trial), 1),
            self._sum("right", trial) / max(self._sum("asked", trial), 1),
            *mean_and_sd(self._counted("steps", trial)),
            mean_and_sd(self._counted("ponder_cost", trial))[0],
        )

    def _column(self, name: str, trial: int | None) -> Tensor | None:
        values = [getattr(batch, name) for batch in self.batches]
        if not values or values[0] is None:
            return None
        return torch.cat([(v if trial is None else v[trial]).flatten() for v in values])

    def _sum(self, name: str, trial: int | None) -> float:
        values = self._column(name, trial)
        return 0.0 if values is None else values.double().sum().item()

    def _counted(self, name: str, trial: int | None) -> Tensor | None:
        values, real = self._column(name, trial), self._column("real", trial)
        if values is not None and real is not None:
            values = values[real]
        return None if values is None or not values.numel() else values


def mean_and_sd(values: Tensor | None) -> tuple[float | None, float | None]:
    """Mean and standard deviation over examples, or None for a model without halting."""
    if values is None:
        return None, None
    exact = values.double()
    return exact.mean().item(), exact.std(correction=0).item()
