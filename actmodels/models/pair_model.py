"""What training and evaluation ask of every model of sentence pairs."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from actmodels.data.batching import batches_by_length
from actmodels.data.pairs import PairTensors
from actmodels.losses import cross_entropies, mean_over_examples
from actmodels.models.prediction import Prediction
from actmodels.modules.dropout import DropoutStream


class PairModel(nn.Module):
    """A model of sentence pairs: `forward` maps a Batch to a Prediction.

    The defaults are those of a model without halting.

    Attributes:
        packs: models of one shape can run as one (actmodels.packed.stack).
        dropout_stream: where the masks of its dropout come from.
    """

    dropout_stream: DropoutStream
    packs = True

    def batches(
        self, pairs: PairTensors, batch_size: int, generator: torch.Generator | None = None
    ) -> Iterator[Tensor]:
        """Rows of each batch of an epoch of training, or of an evaluation (no generator)."""
        return batches_by_length(pairs, batch_size, generator)

    def start_epoch(self, epoch: int | Tensor) -> None:
        """Told before each epoch of training, counted from 1; in a pack [trials]."""

    def objective(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """What training minimises: mean cross-entropy in nats, and what halting adds to it."""
        return mean_over_examples(cross_entropies(prediction.logits, labels), labels)

    def adapt(self, prediction: Prediction, labels: Tensor) -> None:
        """Told after each update; a model may change what its objective weighs."""

    @property
    def ponder_weight(self) -> float | Tensor | None:
        """The weight of the ponder cost in the objective now; None without one."""
        return None
