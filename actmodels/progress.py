"""How far a trial has come: its epochs, its best parameters, and whether it has ended."""

from typing import Any, Generic, Protocol, TypeVar

from torch import Generator, Tensor

from actmodels.draws import generator
from actmodels.records import EpochRecord, best_epoch


class Schedule(Protocol):
    """What a trial's configuration says about how long it runs; see TrialConfig."""

    @property
    def max_epochs(self) -> int:
        """The most epochs it may have."""

    @property
    def patience(self) -> int:
        """Epochs without a better dev accuracy after which it stops; 0 for never."""

    @property
    def seed(self) -> int:
        """What all its random numbers come from."""


Trial = TypeVar("Trial", bound=Schedule)


class Progress(Generic[Trial]):
    """What a trial in progress knows besides its model and optimiser.

    Attributes:
        history: the epochs so far.
        best_parameters: the model's parameters at the best dev accuracy so far.
        diverged: a loss was not finite; the trial ended on the parameters of the epoch before.
    """

    def __init__(self, config: Trial) -> None:
        self.config = config
        self.history: list[EpochRecord] = []
        self.best_parameters: dict[str, Tensor] = {}
        self.diverged = False

    @property
    def next_epoch(self) -> int:
        """The number of the epoch to come, counted from 1."""
        return len(self.history) + 1

    @property
    def epoch_generator(self) -> Generator:
        """What the epoch to come draws from, at its beginning."""
        return generator("epoch", self.config.seed, self.next_epoch)

    @property
    def finished(self) -> bool:
        """All epochs are done, dev accuracy stopped improving, or training diverged."""
        epochs, patience = len(self.history), self.config.patience
        if self.diverged or epochs >= self.config.max_epochs:
            return True
        return patience > 0 and epochs > 0 and epochs - self.best_epoch >= patience

    @property
    def best_epoch(self) -> int:
        """The first epoch with the best dev accuracy so far."""
        return best_epoch(self.history).epoch

    def add(self, record: EpochRecord) -> bool:
        """Take in an epoch; true if it is the best so far."""
        self.history.append(record)
        return self.best_epoch == record.epoch

    def state_dict(self) -> dict[str, Any]:
        """What must be saved."""
        return {
            "history": [vars(record) for record in self.history],
            "best_parameters": self.best_parameters,
            "diverged": self.diverged,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up what was saved."""
        self.history = [EpochRecord(**record) for record in state["history"]]
        self.best_parameters = state["best_parameters"]
        self.diverged = state["diverged"]
