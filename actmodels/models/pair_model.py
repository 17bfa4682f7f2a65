"""What training and evaluation ask of every model of sentence pairs."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from actmodels.data.batching import batches_by_length
from actmodels.data.pairs import PairTensors
from actmodels.models.prediction import Prediction


class PairModel(nn.Module):
    """A model of sentence pairs: `forward` maps a Batch to a Prediction.

    The defaults are those of a model without halting.
    """

    def batches(
        self, pairs: PairTensors, batch_size: int, generator: torch.Generator | None = None
    ) -> Iterator[Tensor]:
        """Rows of each batch of an epoch of training, or of an evaluation (no generator)."""
        return batches_by_length(pairs, batch_size, generator)

    def start_epoch(self, epoch: int) -> None:
        """Told before each epoch of training, counted from 1."""

    def objective(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """What training minimises: mean cross-entropy in nats, and what halting adds to it."""
        return cross_entropy(prediction.logits, labels)

    def adapt(self, prediction: Prediction) -> None:
        """Told after each update; a model may change what its objective weighs."""

    @property
    def ponder_weight(self) -> float | None:
        """The weight of the ponder cost in the objective now; None without one."""
        return None
