"""Figures of an epoch, summed over its batches, of one trial or of each trial of a pack."""

from typing import NamedTuple

import torch
from torch import Tensor


class Figures(NamedTuple):
    """A model on many examples in a few numbers; the fields of EpochRecord say what they are.

    Those of steps are None where the model does not halt.
    """

    loss: float
    accuracy: float
    mean_steps: float | None
    sd_steps: float | None
    ponder_cost: float | None


class Marks(NamedTuple):
    """What is kept of a batch; in a pack each with the trials in front.

    losses: in nats [] or [examples]; over all batches they sum up to the mean of `targets`.
    targets: how many the losses are of []. right, asked: how many answers are right, of how many.
    examples: how many were trained on [].
    steps, ponder_cost: of what takes steps, any shape; None without halting.
    real: which of these count, the same shape; None for all.
    """

    losses: Tensor
    targets: Tensor
    right: Tensor
    asked: Tensor
    examples: Tensor
    steps: Tensor | None
    ponder_cost: Tensor | None
    real: Tensor | None = None


class EpochMeans:
    """Running figures; summed once, at the end."""

    def __init__(self) -> None:
        self.batches: list[Marks] = []

    def add(self, marks: Marks) -> None:
        """Take in one batch, without its gradients."""
        steps, ponder = (
            None if v is None else v.detach() for v in (marks.steps, marks.ponder_cost)
        )
        self.batches.append(marks._replace(steps=steps, ponder_cost=ponder))

    def examples(self, trial: int | None = None) -> int:
        """How many examples were trained on."""
        return int(self._sum("examples", trial))

    def figures(self, trial: int | None = None) -> Figures:
        """Zeros where nothing was taken in: a first batch that diverged.

        Args:
            trial: which one of a pack; None if there is no pack.
        """
        return Figures(
            self._sum("losses", trial) / max(self._sum("targets", trial), 1),
            self._sum("right", trial) / max(self._sum("asked", trial), 1),
            *mean_and_sd(self._joined("steps", trial)),
            mean_and_sd(self._joined("ponder_cost", trial))[0],
        )

    def _sum(self, name: str, trial: int | None) -> float:
        values = [own(getattr(batch, name), trial).flatten() for batch in self.batches]
        return torch.cat(values).double().sum().item() if values else 0.0

    def _joined(self, name: str, trial: int | None) -> Tensor | None:
        """The values that count, None where there are none."""
        if not self.batches or getattr(self.batches[0], name) is None:
            return None
        values = torch.cat([own(getattr(b, name), trial).flatten() for b in self.batches])
        real = [own(b.real, trial).flatten() for b in self.batches if b.real is not None]
        values = values[torch.cat(real)] if real else values
        return values if values.numel() else None


def own(values: Tensor, trial: int | None) -> Tensor:
    """One trial's values of a pack's; all of them where there is no pack."""
    return values if trial is None else values[trial]


def mean_and_sd(values: Tensor | None) -> tuple[float | None, float | None]:
    """Mean and standard deviation over examples, or None for a model without halting."""
    if values is None:
        return None, None
    exact = values.double()
    return exact.mean().item(), exact.std(correction=0).item()
