"""Trials of a training of any kind: a class of the user with epochs and a state."""

import copy
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from actmodels.errors import SweepError
from actmodels.records import ScoredEpoch, best_epoch, is_over
from actmodels.registry import load_class
from actmodels.trial_config import BaseTrialConfig


@dataclass(frozen=True, kw_only=True)
class OwnTrialConfig(BaseTrialConfig):
    """A trial of the user's class; it is read as `model` has it, the sweep's name.

    Attributes:
        training: the class or function, as module:name.
        settings: what it is called with, besides the seed.
        metric, mode: of its epochs, the name of the number that is maximized or minimized.
    """

    loader: ClassVar[str] = "tune.own_training:no_data"
    trainer: ClassVar[str] = "tune.own_training:OwnTraining"

    training: str
    settings: tuple[tuple[str, str | int | float | bool], ...]
    metric: str
    mode: str

    @property
    def references(self) -> list[str]:
        return [self.training]

    def with_settings(self, settings: Mapping[str, Any]) -> Self:
        """Return a configuration with some settings replaced."""
        return replace(self, settings=tuple(sorted({**dict(self.settings), **settings}.items())))

    def flat(self) -> dict[str, str | int | float | bool]:
        """Return all settings by name."""
        row: dict[str, str | int | float | bool] = {"model": self.model, "seed": self.seed}
        limits = {"max_epochs": self.max_epochs, "patience": self.patience}
        return row | dict(self.settings) | limits


def no_data(_config: OwnTrialConfig, _folder: Path, _text: Path | None) -> None:
    """Return no data: the user's class has its own."""


class OwnTraining:
    """The user's training with the attributes that a worker needs, as a ModelTraining has them."""

    def __init__(self, config: OwnTrialConfig, _data: None, device: str) -> None:
        self.config = config
        self.history: list[ScoredEpoch] = []
        self.best_parameters: dict[str, Any] = {}  # the user's state at the best epoch
        self.diverged = False  # a metric to compare was not finite
        settings = dict(config.settings) | {"seed": config.seed}
        self.training = load_class(config.training)(settings, device)

    @property
    def parameters(self) -> int:
        """Number of parameters of its attribute `model`; 0 without one."""
        model = getattr(self.training, "model", None)
        return sum(each.numel() for each in model.parameters()) if model is not None else 0

    @property
    def next_epoch(self) -> int:
        """Number of the next epoch, from 1."""
        return len(self.history) + 1

    @property
    def finished(self) -> bool:
        """Whether max_epochs or the patience is exhausted, or training diverged."""
        limits = (self.config.max_epochs, self.config.patience)
        return self.diverged or is_over(self.history, *limits)

    def run_epoch(self) -> None:
        """Run the user's epoch, and keep its metrics; keep its state if it is the best."""
        start, metric = time.perf_counter(), self.config.metric
        metrics = {name: float(value) for name, value in self.training.run_epoch().items()}
        seconds = time.perf_counter() - start
        if metric not in metrics:
            names = ", ".join(metrics) or "nothing"
            problem = f"run_epoch returned no {metric}, which the sweep compares, but {names}"
            raise SweepError(f"{self.config.training}: {problem}")
        self.diverged = not math.isfinite(metrics[metric])
        sign = 1 if self.config.mode == "max" else -1
        score = ScoredEpoch.lost_score if self.diverged else sign * metrics[metric]
        finite = {name: value for name, value in metrics.items() if math.isfinite(value)}
        self.history.append(ScoredEpoch(self.next_epoch, score, metric, finite, seconds))
        if best_epoch(self.history) is self.history[-1]:
            # later epochs overwrite the tensors of a model's state_dict
            self.best_parameters = copy.deepcopy(self.training.state_dict())

    def state_dict(self) -> dict[str, Any]:
        """Return all that is needed to resume after the last finished epoch."""
        return {
            "training": self.training.state_dict(),
            "history": [vars(epoch) for epoch in self.history],
            "best_parameters": self.best_parameters,
            "diverged": self.diverged,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.training.load_state_dict(state["training"])
        self.history = [ScoredEpoch(**epoch) for epoch in state["history"]]
        self.best_parameters, self.diverged = state["best_parameters"], state["diverged"]
