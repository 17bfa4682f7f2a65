"""The driver's callback during a sweep: it hands Ray's events to the running sweep."""

import errno
from dataclasses import dataclass, field, replace
from typing import Any

import ray.tune

from actmodels.records import TrialRecord, best_epoch
from tune.cluster.node_check import NodeError, StorageFullError, qualified_name
from tune.cluster.nodes import Nodes
from tune.failures import UNREACHABLE, Failure
from tune.progress import End, Progress, say
from tune.running_sweep import RunningSweep
from tune.tracking.tracker import TrialState
from tune.trials.fusion import point_keys
from tune.trials.grid import Trial


class DriverOnly:
    """Base of objects that Ray Tune pickles with an experiment, which is never restored.

    A pickle of their content would grow with the number of trials.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(None), ())


@dataclass(eq=False, repr=False)
class DriverCallback(DriverOnly, ray.tune.Callback):
    """Ray runs fusions; this class hands what happens to them to their trials.

    Each trial is recorded when it ends, whatever happens to its fusion.

    Attributes:
        addresses: address of the node of each Ray trial.
    """

    sweep: RunningSweep
    progress: Progress
    nodes: Nodes
    addresses: dict[str, str] = field(default_factory=dict)

    def members(self, ray_trial: Any) -> list[Trial]:
        """Return the trials of the fusion of Ray's trial that have not ended."""
        return self.sweep.unfinished(point_keys(ray_trial.config))

    def on_trial_start(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        """Track the trials of a fusion that Ray starts."""
        for member in () if self.sweep.ending else self.members(trial):
            self.progress.started(member.name)
            self.sweep.tracker.update(member, TrialState())
            self.sweep.loggers.started(member)

    def on_trial_result(
        self, iteration: int, trials: list[Any], trial: Any, result: dict[str, Any], **info: Any
    ) -> None:
        """Track an epoch of some trials of a fusion, and record those that have finished."""
        for note in result["notes"]:
            say(note)
        self.addresses[trial.trial_id] = result["node_ip"]
        node = {"node": f"{result['hostname']} ({result['node_ip']})"}
        for member in self.members(trial):
            if (record := result["trials"].get(member.key)) is None:
                continue
            state = TrialState(history=record.history, system_metrics=result["system_metrics"])
            self.sweep.tracker.update(member, state)
            self.sweep.loggers.reached(member, record)
            self.progress.reached(member.name, len(record.history), best_epoch(record.history))
            if member.key in result["finished"]:
                self._record(member, replace(record, machine=node | record.machine))

    def _record(self, trial: Trial, record: TrialRecord) -> None:
        if self.sweep.record(record):
            end: End = "diverged" if record.diverged else "done"
            self.progress.ended(trial.name, trial.config.max_epochs, end)
            if record.diverged:
                say(f"{trial.name}: {record.end}")

    def on_trial_complete(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        """Start trials of unreadable weights over; Ray calls this after Ctrl-C, too."""
        keys = point_keys(trial.config)
        self.sweep.remove_checkpoints(keys)
        self._show_failed(self.sweep.start_over(keys))

    def on_trial_error(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        """Restart a fusion that failed; a node or a network that failed costs it no restart."""
        self.sweep.remove_checkpoints(point_keys(trial.config))
        members, failure = self.members(trial), Failure.of(trial)
        self.progress.waiting(member.name for member in members)
        if not members:
            return
        address = self.addresses.get(trial.trial_id) or failure.node
        if self._is_node_error(failure):
            self.sweep.waiting.insert(0, members)
        elif address and self.nodes.external and self.nodes.is_gone(address):
            self.sweep.restart(members, f"node {address} does not answer any more")
        elif failure.reason == UNREACHABLE:
            self.sweep.restart(members, failure.reason)
        else:
            self._show_failed(self.sweep.fail(members, failure))

    def _is_node_error(self, failure: Failure) -> bool:
        """Return whether a node or the storage failed, not the fusion; exclude the node."""
        error, _, message = failure.reason.partition(": ")
        if error not in (qualified_name(StorageFullError), qualified_name(NodeError)):
            return False
        with self.sweep.fatal_errors(self.sweep.checkpoints):
            if error == qualified_name(StorageFullError):
                raise OSError(errno.ENOSPC, "full")
            if not self.nodes.storage_was_unreachable():
                self.nodes.exclude_failed(message)
        return True

    def _show_failed(self, trials: list[Trial]) -> None:
        for trial in trials:
            self.progress.ended(trial.name, trial.config.max_epochs, "failed")
