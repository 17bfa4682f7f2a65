"""Metrics of an epoch, accumulated over its batches; when fused, of each trial."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

Outcome = tuple[Tensor | None, ...]  # what metrics need of a batch


class Metrics(NamedTuple):
    """Metrics of a split; steps and ponder cost are None for a model without halting."""

    loss: float
    accuracy: float
    mean_steps: float | None
    sd_steps: float | None
    ponder_cost: float | None


class BatchMetrics(NamedTuple):
    """Metrics of a batch; when fused, each with a leading dimension [trials]."""

    losses: Tensor  # in nats [] or [examples]; the mean loss divides their sum by that of `targets`
    targets: Tensor  # number of losses []
    right: Tensor  # number of correct answers []
    answers: Tensor  # number of answers []
    examples: Tensor  # number of training examples []
    steps: Tensor | None  # any shape; None without halting
    ponder_cost: Tensor | None  # any shape; None without halting
    real: Tensor | None = None  # mask of the steps and ponder costs that count; None for all


def stored_metrics(outcomes: Sequence[Outcome]) -> list[BatchMetrics]:
    """Return outcomes that are the fields of BatchMetrics."""
    return [BatchMetrics._make(outcome) for outcome in outcomes]


class EpochMetrics:
    """Accumulator of the outcomes of batches.

    batch_metrics: maps all outcomes to metrics at the end of the epoch, in a few operations.
    """

    def __init__(
        self, batch_metrics: Callable[[Sequence[Outcome]], list[BatchMetrics]] = stored_metrics
    ) -> None:
        self.batch_metrics = batch_metrics
        self.outcomes: list[Outcome] = []

    def add(self, outcome: Outcome) -> None:
        """Add a batch, detached from its graph."""
        self.outcomes.append(tuple(None if part is None else part.detach() for part in outcome))

    @cached_property
    def batches(self) -> list[BatchMetrics]:
        return self.batch_metrics(self.outcomes)

    def examples(self, trial: int | None = None) -> int:
        return int(self._sum("examples", trial))

    def metrics(self, trial: int | None = None) -> Metrics:
        """Return means over all batches; zeros if the first batch diverged."""
        return Metrics(
            self._sum("losses", trial) / max(self._sum("targets", trial), 1),
            self._sum("right", trial) / max(self._sum("answers", trial), 1),
            *mean_and_sd(self._counted("steps", trial)),
            mean_and_sd(self._counted("ponder_cost", trial))[0],
        )

    def _column(self, name: str, trial: int | None) -> Tensor:
        values = [value for batch in self.batches if (value := getattr(batch, name)) is not None]
        parts = [(value if trial is None else value[trial]).flatten() for value in values]
        return torch.cat(parts) if parts else torch.empty(0)

    def _sum(self, name: str, trial: int | None) -> float:
        return self._column(name, trial).double().sum().item()

    def _counted(self, name: str, trial: int | None) -> Tensor:
        values, real = self._column(name, trial), self._column("real", trial)
        return values[real] if len(values) and len(real) else values


def mean_and_sd(values: Tensor | None) -> tuple[float | None, float | None]:
    """Return mean and population standard deviation; None for a model without halting."""
    if values is None or not len(values):
        return None, None
    exact = values.double()
    return exact.mean().item(), exact.std(correction=0).item()
