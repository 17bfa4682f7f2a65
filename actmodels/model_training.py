"""Training of any kind, epoch by epoch, with a state that can be saved and resumed.

Every epoch seeds its random numbers from (seed, epoch): a run that is interrupted and resumed
gives the same bits as one that was not.
"""

import copy
import time
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Generic, TypeAlias, TypeVar

import torch
from torch import Generator, Tensor, nn
from torch.nn.utils import clip_grad_value_, clip_grads_with_norm_, get_total_norm

from actmodels.metrics import BatchMetrics, EpochMetrics, Metrics
from actmodels.modules.dropout import DropoutStream, update_key
from actmodels.records import EpochRecord, best_epoch
from actmodels.seeding import generator
from actmodels.trial_config import BaseTrialConfig

Config = TypeVar("Config", bound=BaseTrialConfig)
Model = TypeVar("Model", bound=nn.Module)
Batch = TypeVar("Batch")
Output = TypeVar("Output")  # what a model makes of a batch


class ModelTraining(Generic[Config, Model, Batch, Output]):
    """A trial in progress.

    clip_value: largest size of a gradient; clip_norm: largest norm of all; 0: no limit.
    dropout: source of the masks, restarted at each update. best_parameters: at the best dev
    accuracy so far. diverged: a loss was not finite; training ended on the epoch before.
    """

    model: Model
    optimizer: torch.optim.Optimizer
    clip_value: float = 0.0
    clip_norm: float
    dropout: DropoutStream | None = None

    def __init__(self, config: Config, device: str = "cpu") -> None:
        self.config = config
        self.device = torch.device(device)
        self.history: list[EpochRecord] = []
        self.best_parameters: dict[str, Tensor] = {}
        self.diverged = False

    @abstractmethod
    def batches(self, order: Generator) -> Iterator[Batch]:
        """The batches of an epoch, drawn from `order`."""

    def forward(self, batch: Batch) -> Output:
        return self.model(batch)

    @abstractmethod
    def objective(self, found: Output, batch: Batch) -> Tensor:
        """What an update minimises []."""

    def on_update_end(self, found: Output, batch: Batch) -> None:
        """Called after each update."""

    @abstractmethod
    def marks(self, found: Output, batch: Batch) -> BatchMetrics:
        """What is kept of a batch."""

    @abstractmethod
    def evaluated(self) -> Metrics:
        """The model on dev."""

    @property
    def ponder_weight(self) -> float | Tensor | None:
        """The weight of the ponder cost now; None where steps cost nothing."""
        return None

    @property
    def parameters(self) -> int:
        return sum(parameter.numel() for parameter in self.model.parameters())

    @property
    def next_epoch(self) -> int:
        """The number of the epoch to come, counted from 1."""
        return len(self.history) + 1

    @property
    def epoch_generator(self) -> Generator:
        return generator("epoch", self.config.seed, self.next_epoch)

    @property
    def finished(self) -> bool:
        """All epochs are done, dev accuracy stopped improving, or training diverged."""
        epochs, patience = len(self.history), self.config.patience
        over = self.diverged or epochs >= self.config.max_epochs
        return over or (patience > 0 < epochs and epochs - self.best_epoch >= patience)

    @property
    def best_epoch(self) -> int:
        """The first epoch with the best dev accuracy so far."""
        return best_epoch(self.history).epoch

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
        seconds, seen = time.perf_counter() - start, means.examples()
        return self.add(means.metrics(), self.evaluated(), self.ponder_weight, seconds, seen)

    def train_epoch(self) -> EpochMetrics:
        """Update on every batch; sets `diverged` and stops at a loss that is not finite."""
        means = EpochMetrics()
        self.model.train()
        for update, batch in enumerate(self.batches(self.epoch_generator)):
            if self.dropout is not None:
                key = update_key(self.config.seed, self.next_epoch, update)
                self.dropout.restart(key.to(self.device))
            found = self.forward(batch)
            objective = self.objective(found, batch)
            if not torch.isfinite(objective):
                self.diverged = True
                break
            self.optimizer.zero_grad(set_to_none=True)
            objective.backward()
            self.clip_gradients()
            self.optimizer.step()
            self.on_update_end(found, batch)
            with torch.no_grad():
                means.add(self.marks(found, batch))
        return means

    def clip_gradients(self) -> None:
        """Cut each gradient at clip_value, then scale all to a norm of clip_norm at most."""
        (group,) = self.optimizer.param_groups
        parameters = [p for p in group["params"] if p.grad is not None]
        if self.clip_value > 0:
            clip_grad_value_(parameters, self.clip_value)
        if self.clip_norm == 0:
            return
        norm = get_total_norm([p.grad for p in parameters if p.grad is not None])
        # On the CPU reading the norm costs nothing, and most updates need no pass over them.
        if norm.device.type != "cpu" or not norm <= self.clip_norm:
            clip_grads_with_norm_(parameters, self.clip_norm, norm)

    def add(
        self, train: Metrics, dev: Metrics, weight: float | Tensor | None, seconds: float, seen: int
    ) -> EpochRecord:
        """Add the record of a finished epoch, with training seconds and examples `seen`."""
        weight = None if weight is None else float(weight)
        record = EpochRecord(self.next_epoch, *train, *dev, weight, seconds, seen / seconds)
        self.history.append(record)
        if self.best_epoch == record.epoch:
            self.best_parameters = copy.deepcopy(self.model.state_dict())
        return record

    def state_dict(self) -> dict[str, Any]:
        """All that is needed to go on after the last finished epoch."""
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "history": [vars(record) for record in self.history],
            "best_parameters": self.best_parameters,
            "diverged": self.diverged,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.history = [EpochRecord(**record) for record in state["history"]]
        self.best_parameters = state["best_parameters"]
        self.diverged = state["diverged"]


AnyTraining: TypeAlias = ModelTraining[Any, Any, Any, Any]
