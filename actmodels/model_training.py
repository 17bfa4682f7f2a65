"""Training one model by itself, epoch by epoch, whatever it learns."""

import copy
import time
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import torch
from torch import nn

from actmodels.progress import Progress, Trial
from actmodels.records import EpochRecord

Means = TypeVar("Means")  # what is kept of an epoch's batches
Model = TypeVar("Model", bound=nn.Module)


class ModelTraining(Progress[Trial], Generic[Trial, Model, Means]):
    """A trial in progress with a model and an optimiser of its own.

    Attributes:
        model: what is trained. optimizer: what trains it.
    """

    model: Model
    optimizer: torch.optim.Optimizer

    @abstractmethod
    def train_epoch(self) -> Means:
        """Train for an epoch; sets `diverged` and stops at a non-finite loss."""

    @abstractmethod
    def measured(self, means: Means, seconds: float) -> EpochRecord:
        """Score dev, and give the record of the epoch that was trained in `seconds`."""

    def epochs(self) -> Iterator[EpochRecord]:
        """Train until finished, yielding each epoch's record; resumes where the history ends."""
        while not self.finished:
            yield self.run_epoch()

    def run_epoch(self) -> EpochRecord:
        """Train and evaluate once; keep the parameters if dev accuracy is better than before."""
        start = time.perf_counter()
        before = copy.deepcopy(self.model.state_dict())
        means = self.train_epoch()
        if self.diverged:
            self.model.load_state_dict(before)
        record = self.measured(means, time.perf_counter() - start)
        if self.add(record):
            self.best_parameters = copy.deepcopy(self.model.state_dict())
        return record

    def state_dict(self) -> dict[str, Any]:
        """All that is needed to go on after the last finished epoch."""
        models = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        return models | super().state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up a saved training."""
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        super().load_state_dict(state)
