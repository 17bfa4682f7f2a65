"""One update of a pack: loss, gradients, and a step of its optimiser."""

from typing import Protocol

import torch
from torch import Tensor

from actmodels.data.batching import Batch
from actmodels.models.pair_model import PairModel
from actmodels.models.prediction import Prediction
from actmodels.packed.optimizer import PackOptimizer


class Updates(Protocol):
    """How a pack is updated.

    Attributes:
        alive: [trials], false from the first loss that was not finite on; such a trial stands
            still.
    """

    alive: Tensor

    def run(self, batch: Batch, keys: Tensor) -> Prediction:
        """Update once.

        Args:
            batch: [trials, batch, ...]. keys: of the dropout of this update, int32 [trials].

        Returns:
            what the pack predicted before the update.
        """


class EagerUpdates:
    """Operation by operation; examples that have halted leave the batch."""

    def __init__(self, pack: PairModel, optimizer: PackOptimizer, trials: int) -> None:
        self.pack, self.optimizer = pack, optimizer
        self.alive = torch.ones(trials, dtype=torch.bool, device=optimizer.table.device)

    def run(self, batch: Batch, keys: Tensor) -> Prediction:
        """See Updates."""
        self.pack.dropout_stream.restart(keys)
        prediction: Prediction = self.pack(batch)
        objective = self.pack.objective(prediction, batch.labels)
        self.alive &= torch.isfinite(objective)
        self.optimizer.zero_grad()
        objective.sum().backward()
        self.optimizer.step(self.alive)
        self.pack.adapt(prediction, batch.labels)
        return prediction
