"""Training on streamed multi-hop pairs, with a curriculum over their depth."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Generator

from actmodels.data.pairs import FIRST_WORD, Batch, PairTensors
from actmodels.data.trial_data import TrialData, WordVectors
from actmodels.halting.base import PonderedHalting
from actmodels.metrics import EpochMetrics, Metrics
from actmodels.seeding import generator
from actmodels.training import Training, evaluate
from studies.multihop.config import MultihopTrialConfig
from studies.multihop.corpus import draw
from studies.multihop.words import ROOMS


def multihop_data(config: MultihopTrialConfig, folder: Path, text: Path | None = None) -> TrialData:
    """Load the dev pairs, which also stand in for `train`; see BaseTrialConfig."""
    dev = PairTensors.load(folder / "dev.pt")
    return TrialData(dev, dev, WordVectors.load(folder / "embedding.pt"))


@contextmanager
def in_steps(halting: Any, max_steps: int) -> Iterator[None]:
    """Give a mechanism another maximum of steps within a `with` block."""
    own, halting.max_steps = halting.max_steps, max_steps
    try:
        yield
    finally:
        halting.max_steps = own


class MultihopTraining(Training):
    """The training of one trial."""

    config: MultihopTrialConfig
    model: Any
    depths_in_training = 1
    epochs_since_join = 0  # of the last depth

    @property
    def all_joined(self) -> bool:
        """Whether every depth is in training."""
        return self.depths_in_training == self.config.stream.max_hops

    def limited_steps(self, halting: PonderedHalting) -> AbstractContextManager[None]:
        """Limit the steps to steps_per_hop for each joined depth, within a `with` block."""
        most = self.config.stream.steps_per_hop * self.depths_in_training
        return in_steps(halting, min(halting.max_steps, most))

    def draw_vectors(self, generator: Generator) -> None:
        """Give the fresh words, if any, new random vectors."""
        if self.config.stream.fresh == "none":
            return
        config, vectors = self.config, self.model.words.vectors
        rooms = len(ROOMS) if config.stream.fresh == "names_and_rooms" else 0
        count = config.corpus.things + rooms
        drawn = torch.randn(count, vectors.shape[1], generator=generator) * config.input.oov_std
        vectors[FIRST_WORD : FIRST_WORD + count] = drawn.to(vectors)

    def train_epoch(self) -> EpochMetrics:
        """Train; steps are limited until all depths have joined, and cost nothing for a while."""
        halting = self.model.halting
        if not isinstance(halting, PonderedHalting):
            return super().train_epoch()
        adds_cost = self.all_joined and self.epochs_since_join >= self.config.stream.ponder_delay
        halting.adds_ponder_cost = adds_cost or not halting.is_cost_optional
        with nullcontext() if self.all_joined else self.limited_steps(halting):
            return super().train_epoch()

    def batches(self, order: Generator) -> Iterator[Batch]:
        """Draw new pairs of the joined depths."""
        stream, size = self.config.stream, self.config.training.batch_size
        for _ in range(stream.updates_per_epoch):
            hops = torch.randint(1, self.depths_in_training + 1, (size,), generator=order)
            batch = draw(self.config.corpus, hops, stream.max_hops, order)
            self.draw_vectors(order)
            yield batch.each(lambda tensor: tensor.to(self.device))

    def dev_metrics(self) -> Metrics:
        """Evaluate dev; let the next depth join if the last one is learned in limited steps."""
        halting, dev = self.model.halting, self.data.dev
        self.draw_vectors(generator("multihop dev words", self.config.seed))
        full = limited = evaluate(self.model, dev, self.config.input)
        if self.all_joined:
            self.epochs_since_join += 1
            return full.metrics
        if isinstance(halting, PonderedHalting):
            with self.limited_steps(halting):
                limited = evaluate(self.model, dev, self.config.input)
        correct = (limited.predictions == limited.labels)[dev.depths == self.depths_in_training]
        self.depths_in_training += int(correct.double().mean() >= self.config.stream.join_accuracy)
        return full.metrics

    @property
    def keeps_last(self) -> bool:  # type: ignore[override]
        return self.config.stream.keep == "last"

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | {
            "joined": self.depths_in_training,
            "settled": self.epochs_since_join,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self.depths_in_training, self.epochs_since_join = state["joined"], state["settled"]
