"""The driver's callback during a sweep: it records, tracks and shows the trials."""

import errno
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ray.tune
from tqdm import tqdm

from actmodels.errors import SweepError
from actmodels.records import TrialRecord
from tune import points
from tune.failures import UNREACHABLE, Failure
from tune.fusion import Fusion, fusion_name, split_largest
from tune.grid import Trial
from tune.node_check import NodeError, StorageFullError, qualified_name
from tune.nodes import Nodes
from tune.progress import End, Progress
from tune.storage import Storage, storage_errors
from tune.store import TrialStore, checkpoint_name, load_checkpoint
from tune.tracking import Tracker
from tune.trainable import TrialReport
from tune.trial_state import TrialState, final_state


class DriverOnly:
    """Base of objects that Ray Tune pickles with an experiment, which is never restored.

    A pickle of their content would grow with the number of trials.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(None), ())


@dataclass(eq=False, repr=False)
class DriverCallback(DriverOnly, ray.tune.Callback):
    """The single writer of records and MLflow runs.

    Ray runs fusions; this class handles their trials. Each is recorded when it ends, whatever
    happens to its fusion.

    Attributes:
        traces: folder of the error files.
        fatal_error: why the sweep must end; empty if it need not.
        errors: reasons of trials that were given up, by key.
        ended: keys of trials that were recorded or given up.
        requeued: fusions for the next round.
        losses: number of times that a trial was requeued without a failure of its own, by key.
        unreadable: keys of finished trials whose weights could not be read.
        addresses: address of the node of each Ray trial.
    """

    trials: dict[str, Trial]
    store: TrialStore
    tracker: Tracker
    progress: Progress
    checkpoints: Storage
    traces: Path
    keep_weights: bool
    nodes: Nodes
    fatal_error: str = ""
    errors: dict[str, str] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    requeued: list[Fusion] = field(default_factory=list)
    losses: Counter[str] = field(default_factory=Counter)
    unreadable: set[str] = field(default_factory=set)
    addresses: dict[str, str] = field(default_factory=dict)

    def unfinished(self, keys: Sequence[str]) -> list[Trial]:
        """Return the trials of these keys that have not ended."""
        return [self.trials[key] for key in keys if key not in self.ended]

    def members(self, ray_trial: Any) -> list[Trial]:
        """Return the trials of the fusion of Ray's trial that have not ended."""
        return self.unfinished(points.keys(ray_trial.config))

    def on_trial_start(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        """Track the trials of a fusion that Ray starts or restarts."""
        for member in self.members(trial):
            self.progress.started(member.name)
            self.tracker.update(member, TrialState())

    def on_trial_result(
        self, iteration: int, trials: list[Any], trial: Any, result: dict[str, Any], **info: Any
    ) -> None:
        """Track an epoch of some trials of a fusion, and record those that have finished."""
        for note in result["notes"]:
            _print(note)
        self.addresses[trial.trial_id] = result["node_ip"]
        machine = {"node": f"{result['hostname']} ({result['node_ip']})", **result["machine"]}
        for member in self.members(trial):
            if report := result["trials"].get(member.key):
                metrics = result["system_metrics"]
                state = TrialState(history=report.history, system_metrics=metrics)
                self.tracker.update(member, state)
                best = max(report.history, key=lambda epoch: epoch.score)
                self.progress.reached(member.name, len(report.history), best)
                if report.finished:
                    self.record(member, report, machine)

    def record(self, trial: Trial, report: TrialReport, machine: dict[str, Any]) -> None:
        """Store a finished trial, or note that its weights cannot be read."""
        weights = self._read_weights(trial) if self.keep_weights else None
        if self.keep_weights and weights is None:
            return
        record = TrialRecord(
            key=trial.key,
            config=trial.config.as_dict(),
            parameters=report.parameters,
            history=tuple(report.history),
            provenance=trial.origin,
            diverged=report.diverged,
            machine=machine,
        )
        with self._fatal_errors(self.store.storage):
            self.store.save(record, weights)
            self.trace(trial).unlink(missing_ok=True)  # of an earlier run
            if record.diverged:
                _print(f"{trial.name}: {record.end}")
            self._end(trial, record, "diverged" if record.diverged else "done")

    def _read_weights(self, trial: Trial) -> dict[str, Any] | None:
        notes: list[str] = []
        name, consequence = checkpoint_name(trial.key), "the trial starts over"
        try:
            corrupt = self.checkpoints.quarantining(name, notes, consequence)
            with self._fatal_errors(self.checkpoints), corrupt:
                return dict(load_checkpoint(self.checkpoints, trial.key)["best_parameters"])
        except OSError as error:
            notes.append(f"{error}; {consequence}")
        if not self.fatal_error:
            _print(*notes)
            self.unreadable.add(trial.key)
        return None

    def _end(self, trial: Trial, result: TrialRecord | str, state: End) -> None:
        self.ended.add(trial.key)
        self.tracker.update(trial, final_state(result))
        self.progress.ended(trial.name, trial.config.max_epochs, state)

    @contextmanager
    def _fatal_errors(self, storage: Storage) -> Iterator[None]:
        """End the sweep if a storage is full or stays unreachable."""
        try:
            with storage_errors(storage):
                yield
        except SweepError as error:
            self.fatal_error = str(error)

    def trace(self, trial: Trial) -> Path:
        """Return the file of the error tracebacks of a trial that was given up."""
        return self.traces / f"{trial.name}.txt"

    def on_trial_complete(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        """Requeue trials of unreadable weights; Ray calls this after Ctrl-C, too."""
        self.remove_checkpoints(trial)
        members = self.members(trial)
        if unreadable := [member for member in members if member.key in self.unreadable]:
            self.requeue(unreadable, trial.max_failures, "its checkpoint could not be read")

    def remove_checkpoints(self, ray_trial: Any) -> None:
        """Delete the checkpoints of a fusion's recorded trials.

        Not earlier: if its worker dies, the fusion restarts with all its trials, and skips those
        whose checkpoints are complete.
        """
        for key in points.keys(ray_trial.config):
            if key in self.ended and key not in self.errors:
                with self._fatal_errors(self.checkpoints):
                    self.checkpoints.remove(checkpoint_name(key))

    def on_trial_recover(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        """Report why a fusion failed; Ray restarts each trial from its last checkpoint.

        A node that is gone, or a worker that cannot be reached, costs no restart.
        """
        members, failure = self.members(trial), Failure.of(trial)
        self.progress.waiting(member.name for member in members)
        if not members or self.handle_node_error(failure):
            return
        reason, node = failure.reason, self.addresses.get(trial.trial_id) or failure.node
        gone = bool(node) and self.nodes.external and self.nodes.is_gone(node)
        if gone:
            reason = f"node {node} does not answer any more"
        if gone or reason == UNREACHABLE:
            trial.run_metadata.num_failures -= 1
        _print(f"{fusion_name(members)}: {reason}; it restarts")

    def handle_node_error(self, failure: Failure) -> bool:
        """Return whether a node or the storage failed, not the fusion; exclude the node."""
        error, _, message = failure.reason.partition(": ")
        if error not in (qualified_name(StorageFullError), qualified_name(NodeError)):
            return False
        with self._fatal_errors(self.checkpoints):
            if error == qualified_name(StorageFullError):
                raise OSError(errno.ENOSPC, "full")
            if not self.nodes.storage_was_unreachable():
                self.nodes.exclude_failed(message)
        return True

    def on_trial_error(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        """Requeue a fusion that Ray gave up, as halves if it failed too often.

        If a worker dies between two fusions, Ray reports its death twice and gives the next
        fusion up at the second, with restarts left. A fusion that failed too often is halved
        until the trial that fails, or needs too much memory, is alone (see by_configuration).
        """
        self.remove_checkpoints(trial)
        members, failure = self.members(trial), Failure.of(trial)
        self.progress.waiting(member.name for member in members)
        if members and trial.num_failures <= trial.max_failures:
            self.requeue(members, trial.max_failures, "its workers died")
        elif len(halves := split_largest([members], 2)) == 1:
            for member in members:
                self.give_up(member, failure.save(self.trace(member)))
        else:
            self.requeued += halves
            names = " and ".join(f"{fusion_name(half)} ({len(half)})" for half in halves)
            _print(f"a fusion failed: {failure.reason}; its trials continue as {names}")

    def requeue(self, trials: list[Trial], max_losses: int, reason: str) -> None:
        """Run trials in the next round, except those that were requeued too often."""
        self.losses.update(trial.key for trial in trials)
        for trial in trials:
            if self.losses[trial.key] > max_losses:
                self.give_up(trial, f"{reason} repeatedly; see the log above")
        if remaining := self.unfinished([trial.key for trial in trials]):
            self.requeued.append(remaining)

    def give_up(self, trial: Trial, reason: str) -> None:
        """End a trial without a result."""
        self.errors[trial.key] = reason
        self._end(trial, reason, "failed")


def _print(*lines: str) -> None:
    """Print above the progress bar."""
    tqdm.write("\n".join(lines), file=sys.stderr)
