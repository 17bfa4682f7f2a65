"""What the driver does while Ray runs the trials: record, track, show."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ray.tune

from actmodels.records import EpochRecord, TrialRecord
from tune.grid import Trial
from tune.progress import Progress
from tune.store import TrialStore
from tune.tracking import Tracker
from tune.trainable import checkpoint_path, load_checkpoint

_current: "DriverCallback | None" = None


def current_callback() -> "DriverCallback | None":
    """What a pickled DriverCallback turns into: Ray stores its callbacks with the experiment."""
    return _current


class DriverCallback(ray.tune.Callback):
    """The single writer of records and of MLflow runs.

    Args:
        trials: the trials of this sweep by key.
        store: where finished trials go. keep_weights: their best weights too.
        checkpoints: folder of the trials in progress.
    """

    def __init__(
        self,
        trials: Mapping[str, Trial],
        *,
        store: TrialStore,
        tracker: Tracker,
        progress: Progress,
        checkpoints: Path,
        keep_weights: bool,
    ) -> None:
        global _current
        self.trials = trials
        self.store = store
        self.tracker = tracker
        self.progress = progress
        self.checkpoints = checkpoints
        self.keep_weights = keep_weights
        self.errors: dict[str, str] = {}
        self.lost: set[str] = set()
        self.ended: set[str] = set()
        _current = self

    def __reduce__(self) -> tuple[Any, ...]:
        return (current_callback, ())

    def trial_of(self, ray_trial: Any) -> Trial:
        """Our trial behind one of Ray's."""
        return self.trials[ray_trial.config["point"]["key"]]

    def on_trial_start(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        """Ray started a trial, for the first time or again."""
        ours = self.trial_of(trial)
        self.progress.started(ours.name)
        self.tracker.trial_started(ours.key, ours.config.flat(), ours.name)

    def on_trial_result(
        self, iteration: int, trials: list[Any], trial: Any, result: dict[str, Any], **info: Any
    ) -> None:
        """A trial reported an epoch."""
        ours = self.trial_of(trial)
        for epoch in result["history"]:
            self.tracker.trial_epoch(ours.key, EpochRecord(**epoch))
        best = max(epoch["dev_accuracy"] for epoch in result["history"])
        self.progress.reached(ours.name, len(result["history"]), best)

    def on_trial_complete(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        """A trial ended; record it if it has finished."""
        ours, result = self.trial_of(trial), trial.last_result
        if not result.get("finished"):
            return  # stopped from outside (Ctrl-C): it has not finished and is not recorded
        record = TrialRecord(
            key=ours.key,
            config=ours.config.as_dict(),
            parameters=result["parameters"],
            history=tuple(EpochRecord(**epoch) for epoch in result["history"]),
            provenance=ours.origin,
            diverged=result["diverged"],
        )
        path = checkpoint_path(self.checkpoints, ours.key)
        weights = load_checkpoint(path)["best_parameters"] if self.keep_weights else None
        self.store.save(record, weights)
        path.unlink(missing_ok=True)  # only now: the record is safe
        self.ended.add(ours.key)
        self.tracker.trial_finished(ours.key, record)
        self.progress.ended(ours.name, ours.config.max_epochs)

    def on_trial_error(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        """Ray gave a trial up: it failed more often than it may, or too early.

        Where a worker dies between two trials, Ray tells of its death twice and gives the next
        trial up at the second, though restarts are left. Such a trial is lost, not failed: the
        caller hands it to Ray again.
        """
        ours = self.trial_of(trial)
        if trial.num_failures <= trial.max_failures:
            self.lost.add(ours.key)
            return
        error = trial.get_error() if hasattr(trial, "get_error") else None
        self.gave_up(ours, str(error).strip().splitlines()[-1] if error else "no reason given")

    def gave_up(self, trial: Trial, reason: str) -> None:
        """Nothing more is tried for a trial."""
        self.errors[trial.key] = reason
        self.ended.add(trial.key)
        self.tracker.trial_failed(trial.key, reason)
        self.progress.ended(trial.name, trial.config.max_epochs, failed=True)
