"""Training loop of all trial types, epoch by epoch, with a state that can be saved and resumed.

Each epoch seeds its random numbers from (seed, epoch), so a resumed run is bitwise equal to an
uninterrupted one.
"""

import copy
import math
import time
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Generic, TypeAlias, TypeVar

import torch
from torch import Generator, Tensor, nn
from torch.linalg import vector_norm

from actmodels.metrics import EpochMetrics, Metrics, Outcome, stored_metrics
from actmodels.modules.dropout import DropoutStream, update_keys
from actmodels.records import EpochRecord, best_epoch, is_over
from actmodels.seeding import generator, seed_of
from actmodels.trial_config import BaseTrialConfig

Config = TypeVar("Config", bound=BaseTrialConfig)
Model = TypeVar("Model", bound=nn.Module)
Batch = TypeVar("Batch")
Output = TypeVar("Output")  # of the model, for a batch


class ModelTraining(Generic[Config, Model, Batch, Output]):
    """Base class of the training of one trial.

    Subclasses set `model`, `optimizer` and `clip_norm`, and implement the abstract methods.
    """

    model: Model
    optimizer: torch.optim.Optimizer
    clip_norm: float  # maximum norm of all gradients; 0: no limit
    batch_metrics = staticmethod(stored_metrics)  # of all outcomes of an epoch
    keeps_last = False  # the parameters of the last epoch, not of the best one on dev
    dropout: DropoutStream | None = None  # source of dropout masks, restarted at each update

    def __init__(self, config: Config, device: str = "cpu") -> None:
        self.config = config
        self.device = torch.device(device)
        self.history: list[EpochRecord] = []  # of the finished epochs
        self.best_parameters: dict[str, Tensor] = {}  # state_dict of the model at the best epoch
        self.diverged = False  # a loss was not finite; the model is that of the epoch before

    @abstractmethod
    def batches(self, order: Generator) -> Iterator[Batch]:
        """Yield the batches of an epoch, shuffled by the generator `order`."""

    def forward(self, batch: Batch) -> Output:
        return self.model(batch)

    @abstractmethod
    def objective(self, output: Output, batch: Batch) -> Tensor:
        """Return the loss to minimize []."""

    def on_update_end(self, output: Output, batch: Batch) -> None:
        """Adapt to a batch after its update."""

    @abstractmethod
    def outcome(self, output: Output, batch: Batch) -> Outcome:
        """Return the training metrics of a batch, or what `batch_metrics` computes them from."""

    @abstractmethod
    def dev_metrics(self) -> Metrics:
        """Return the metrics of the model on dev."""

    @property
    def ponder_weight(self) -> float | Tensor | None:
        """Current weight of the ponder cost; None without one."""
        return None

    @property
    def parameters(self) -> int:
        """Number of trained parameters."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    @property
    def trained(self) -> list[nn.Parameter]:
        """Parameters that the optimizer updates."""
        (group,) = self.optimizer.param_groups
        return group["params"]

    @property
    def next_epoch(self) -> int:
        """Number of the next epoch, from 1."""
        return len(self.history) + 1

    @property
    def epoch_generator(self) -> Generator:
        return generator("epoch", self.config.seed, self.next_epoch)

    @property
    def finished(self) -> bool:
        """Whether max_epochs or the patience is exhausted, or training diverged."""
        limits = (self.config.max_epochs, self.config.patience)
        return self.diverged or is_over(self.history, *limits)

    @property
    def best_epoch(self) -> int:
        """Number of the best epoch so far; see `actmodels.records.best_epoch`."""
        return best_epoch(self.history).epoch

    def epochs(self) -> Iterator[EpochRecord]:
        """Train until finished, from the end of the history; yield each epoch's record."""
        while not self.finished:
            yield self.run_epoch()

    def run_epoch(self) -> EpochRecord:
        """Train and evaluate for one epoch; keep the parameters of the best epoch."""
        start = time.perf_counter()
        before = copy.deepcopy(self.model.state_dict())
        metrics = self.train_epoch()
        if self.diverged:
            self.model.load_state_dict(before)
        seconds, seen = time.perf_counter() - start, metrics.examples()
        return self.add(metrics.metrics(), self.dev_metrics(), self.ponder_weight, seconds, seen)

    def set_rate(self, learning_rate: float, final_rate: float) -> None:
        """Set the learning rate of the next epoch: linear, final_rate of it in epoch max_epochs."""
        last = self.config.max_epochs - 1
        progress = (self.next_epoch - 1) / last if last else 0.0
        (group,) = self.optimizer.param_groups
        group["lr"] = learning_rate * (1 - (1 - final_rate) * progress)

    def train_epoch(self) -> EpochMetrics:
        """Update on every batch; at a loss that is not finite set `diverged` and stop."""
        metrics = EpochMetrics(self.batch_metrics)
        torch.manual_seed(seed_of("torch", self.config.seed, self.next_epoch))  # e.g. nn.Dropout
        self.model.train()
        keys = update_keys(self.config.seed, self.next_epoch, self.device)
        for batch in self.batches(self.epoch_generator):
            if self.dropout is not None:
                self.dropout.restart(next(keys))
            output = self.forward(batch)
            objective = self.objective(output, batch)
            if not math.isfinite(objective.item()):
                self.diverged = True
                break
            self.update(objective)
            self.on_update_end(output, batch)
            with torch.no_grad():
                metrics.add(self.outcome(output, batch))
        return metrics

    def update(self, objective: Tensor) -> None:
        """Take a step of the optimizer."""
        for parameter in self.trained:
            parameter.grad = None  # zero_grad() takes longer: it reports to torch's profiler
        objective.backward()
        self.clip_gradients()
        self.optimizer.step()

    def clip_gradients(self) -> None:
        """Clip the norm of all gradients to clip_norm."""
        if self.clip_norm == 0:
            return
        gradients = [p.grad for p in self.trained if p.grad is not None]
        # As torch's clip_grad_norm_, which first groups the gradients by device, and which passes
        # over them also if their norm is small.
        norm = vector_norm(torch.stack([vector_norm(each) for each in gradients]))
        if not norm <= self.clip_norm:
            scale = (self.clip_norm / (norm + 1e-6)).clamp(max=1.0)
            for gradient in gradients:
                gradient.mul_(scale)

    def add(
        self, train: Metrics, dev: Metrics, weight: float | Tensor | None, seconds: float, seen: int
    ) -> EpochRecord:
        """Add the record of an epoch; weight: ponder weight. seen: number of training examples."""
        weight = None if weight is None else float(weight)
        rate, last = seen / seconds, self.keeps_last
        record = EpochRecord(self.next_epoch, *train, *dev, weight, seconds, rate, last)
        self.history.append(record)
        if self.best_epoch == record.epoch:
            self.best_parameters = copy.deepcopy(self.model.state_dict())
        return record

    def state_dict(self) -> dict[str, Any]:
        """Return all that is needed to resume after the last finished epoch."""
        model = self.model.state_dict()
        last_is_best = self.history and self.best_epoch == len(self.history)
        return {
            "model": model,
            "optimizer": self.optimizer.state_dict(),
            "history": [vars(record) for record in self.history],
            # torch.save writes the same tensors once
            "best_parameters": model if last_is_best else self.best_parameters,
            "diverged": self.diverged,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.history = [EpochRecord(**record) for record in state["history"]]
        self.best_parameters = state["best_parameters"]
        self.diverged = state["diverged"]


AnyTraining: TypeAlias = ModelTraining[Any, Any, Any, Any]
