"""Training on streamed multi-hop pairs, with a curriculum over their depth."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Generator

from actmodels.data.pairs import Batch, PairTensors
from actmodels.data.trial_data import TrialData, WordVectors
from actmodels.evaluation import evaluate
from actmodels.halting.base import PonderedHalting
from actmodels.metrics import EpochMetrics, Metrics
from actmodels.multihop.config import MultihopTrialConfig
from actmodels.multihop.corpus import draw
from actmodels.training import Training


def multihop_data(config: MultihopTrialConfig, folder: Path, text: Path | None = None) -> TrialData:
    """Load the fixed pairs; `train` is not trained on. See actmodels.trial_types."""
    dev = PairTensors.load(folder / "dev.pt")
    return TrialData(dev, dev, WordVectors.load(folder / "embedding.pt"))


class MultihopTraining(Training):
    """One trial in progress.

    Attributes:
        joined: depths that are trained on. settled: epochs since the last of all has joined.
    """

    config: MultihopTrialConfig

    joined, settled = 1, 0

    @property
    def all_joined(self) -> bool:
        """Every depth is trained on."""
        return self.joined == self.config.stream.max_hops

    @contextmanager
    def few_steps(self, halting: PonderedHalting) -> Iterator[None]:
        """Halt after steps_per_hop steps for each depth that has joined, at most."""
        most = halting.max_steps
        halting.max_steps = min(most, self.config.stream.steps_per_hop * self.joined)
        try:
            yield
        finally:
            halting.max_steps = most

    def train_epoch(self) -> EpochMetrics:
        """Train in few steps until all depths have joined, and without ponder cost a while more."""
        halting = self.model.halting
        if not isinstance(halting, PonderedHalting):
            return super().train_epoch()
        begun = self.all_joined and self.settled >= self.config.stream.ponder_delay
        halting.charges = begun or not halting.is_price
        with nullcontext() if self.all_joined else self.few_steps(halting):
            return super().train_epoch()

    def batches(self, order: Generator) -> Iterator[Batch]:
        """Yield fresh pairs of the depths that have joined."""
        stream, size = self.config.stream, self.config.training.batch_size
        for _ in range(stream.updates_per_epoch):
            hops = torch.randint(1, self.joined + 1, (size,), generator=order)
            batch = draw(hops, stream.max_hops, order)
            yield batch.each(lambda tensor: tensor.to(self.device))

    def evaluated(self) -> Metrics:
        """Score dev, and let the next depth join if the last one is learned in few steps."""
        halting, dev = self.model.halting, self.data.dev
        found = learned = evaluate(self.model, dev, self.config.input)
        if self.all_joined:
            self.settled += 1
            return found.metrics
        if isinstance(halting, PonderedHalting):
            with self.few_steps(halting):
                learned = evaluate(self.model, dev, self.config.input)
        right = (learned.predictions == learned.labels)[dev.depths == self.joined]
        self.joined += int(right.double().mean() >= self.config.stream.join_accuracy)
        return found.metrics

    def state_dict(self) -> dict[str, Any]:
        """See ModelTraining."""
        return super().state_dict() | {"joined": self.joined, "settled": self.settled}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """See ModelTraining."""
        super().load_state_dict(state)
        self.joined, self.settled = state["joined"], state["settled"]
