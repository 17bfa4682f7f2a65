"""Further loggers, which installed packages register as entry points of GROUP.

They run in the driver. One that fails is named once and is not called again.
"""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol

from actmodels.errors import first_line
from actmodels.records import TrialRecord
from tune.trials.grid import Trial

GROUP = "actmodels.loggers"


class Logger(Protocol):
    """The methods of a logger; the entry point is called with the name of the sweep's run."""

    def trial_started(self, trial: str, settings: Mapping[str, Any]) -> None: ...

    def epoch_ended(self, trial: str, epoch: int, metrics: Mapping[str, float]) -> None: ...

    def trial_ended(self, trial: str, end: str) -> None:
        """end: finished, stopped, diverged, or failed."""


class Loggers:
    """The registered loggers of a sweep; without one nothing happens."""

    def __init__(self, sweep: str) -> None:
        self._loggers: dict[str, Logger] = {}
        self._epochs: dict[str, int] = {}  # number of logged epochs by key
        for entry in entry_points(group=GROUP):
            self._try(entry.name, partial(self._add, entry, sweep))

    def started(self, trial: Trial) -> None:
        """Log the start of a trial, once also if it restarts."""
        if trial.key not in self._epochs:
            self._epochs[trial.key] = 0
            self._each("trial_started", trial.name, trial.settings)

    def reached(self, trial: Trial, record: TrialRecord) -> None:
        """Log the epochs that are new; a report repeats the earlier ones."""
        for epoch in record.history[self._epochs.get(trial.key, 0) :]:
            numbers = {n: v for n, v in epoch.logged().items() if type(v) in (int, float)}
            self._each("epoch_ended", trial.name, epoch.epoch, numbers)
        self._epochs[trial.key] = len(record.history)

    def ended(self, trial: Trial, result: TrialRecord | str) -> None:
        """Log the end of a trial: its record, or why it was given up."""
        end = "failed"
        if isinstance(result, TrialRecord):
            end = "diverged" if result.diverged else "stopped" if result.stopped else "finished"
        self._each("trial_ended", trial.name, end)

    def _add(self, entry: EntryPoint, sweep: str) -> None:
        self._loggers[entry.name] = entry.load()(sweep)

    def _each(self, method: str, *arguments: Any) -> None:
        for name, logger in list(self._loggers.items()):
            self._try(name, partial(_call, logger, method, *arguments))

    def _try(self, name: str, call: Callable[[], object]) -> None:
        try:
            call()
        except Exception as error:  # a logger is code of other packages
            self._loggers.pop(name, None)
            problem = f"{type(error).__name__}: {first_line(error)}"
            print(f"logger {name} failed, it is not called again: {problem}", file=sys.stderr)


def _call(logger: Logger, method: str, *arguments: Any) -> None:
    getattr(logger, method)(*arguments)
