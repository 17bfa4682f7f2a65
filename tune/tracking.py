"""MLflow, written by the driver alone: one parent run per sweep, one nested run per trial.

Results never depend on MLflow: a store that fails in mid-sweep is warned about once, and what it
missed is logged later.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from actmodels.records import EpochRecord, TrialRecord, best_epoch
from tune.addresses import first_line
from tune.mlflow_store import (
    FAILURES,
    PARENT,
    TRAINING,
    Metrics,
    Params,
    RunStore,
    flat_metrics,
    store_errors,
)
from tune.views import save_views

log = logging.getLogger(__name__)

RETRY_SECONDS = 300.0  # pause after a failed call
EPOCHS_PER_BATCH = 50  # MLflow takes 1000 metrics at once
# Repeating the call cannot help, for instance when somebody deleted the run meanwhile.
REFUSALS = {"INVALID_PARAMETER_VALUE", "RESOURCE_DOES_NOT_EXIST", "BAD_REQUEST", "INVALID_STATE"}


@dataclass
class _Trial:
    """What is known of a nested run; `steps` (epochs already logged) is read when needed."""

    run_id: str
    status: str
    params: set[str]
    tags: dict[str, str]
    steps: set[int] | None = None


def outcome(record: TrialRecord | None) -> tuple[str, dict[str, str]]:
    """Status and tags of the nested run of a trial that has ended."""
    machine = {name: str(value) for name, value in (record.machine or {}).items()} if record else {}
    if record and record.diverged:
        reason = f"diverged in epoch {len(record.history)}: a loss was not finite"
        return "FAILED", {"failure": reason, **machine}
    return "FINISHED", machine


def best_figures(history: Sequence[EpochRecord]) -> Metrics:
    """Figures of the epoch that was kept, by which MLflow can sort trials; none of no epoch."""
    if not history:
        return {}
    best = best_epoch(history)
    found = {"best_dev_accuracy": best.dev_accuracy, "best_epoch": float(best.epoch)}
    return {**found, "best_dev_mean_steps": best.dev_mean_steps}


class Tracker:
    """One MLflow parent run (a sweep, or a retraining) with one nested run per trial.

    Only `start` raises. The other methods may be called with MLflow down: their entries wait in
    order until it answers again, at the latest until `finish`.

    Args:
        kind: "sweep" or "retrain".
        group: digest that identifies the parent among its kind, such as the grid's.
        tags: provenance of the parent run.
        state: folder of run state, which outlives the stage.
    """

    _store: RunStore
    _parent: str
    _writer: ThreadPoolExecutor | None = None
    _writing: Future[bool] | None = None

    def __init__(self, kind: str, group: str, tags: Mapping[str, str], state: Path) -> None:
        self.kind, self.group, self.tags, self.state = kind, group, dict(tags), state
        self._trials: dict[str, _Trial] = {}
        self._listed = False
        self._queue: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._retry_at = 0.0
        self._warned = False

    def start(self) -> None:
        """Get or create the parent run, RUNNING, and close what a crash left open.

        Raises:
            TrackingError: the store cannot be used.
        """
        self._store = RunStore(self.state)
        with store_errors(self._store.uri):
            run = self._store.open(self.kind, self.group, self.tags, role=TRAINING)
            self._parent = run.info.run_id
            self._store.client.update_run(self._parent, "RUNNING")
            self._list_trials()
            self._end_open_trials()
            save_views(self._store)

    def trial_started(self, key: str, params: Params, name: str) -> None:
        """The trial trains: its nested run is RUNNING, again if need be. Parameters once."""
        self._later(self._open_trial, key, dict(params), name, {})

    def trial_epoch(self, key: str, *records: EpochRecord, load: Metrics | None = None) -> None:
        """Log epochs, unless this or an earlier driver has logged them.

        Args:
            load: how busy the machine was in the last of them.
        """
        self._later(self._log_epochs, key, records, load)

    def trial_finished(self, key: str, record: TrialRecord | None = None) -> None:
        """The trial is done; `record` fills in epochs that no driver had the time to log.

        One that diverged has a record and is not tried again, but its nested run is FAILED.
        """
        history = record.history if record else ()
        self._later(self._end_trial, key, *outcome(record), history)

    def trial_failed(self, key: str, reason: str) -> None:
        """The trial gave up; the first line of `reason` becomes a tag."""
        self._later(self._end_trial, key, "FAILED", {"failure": first_line(reason)}, ())

    def trial_reused(self, record: TrialRecord, params: Params, name: str) -> None:
        """The trial was finished earlier: complete its nested run, if it is not already.

        A run created for it is tagged reused=true: nothing was trained under this parent.
        """
        self._later(self._reuse_trial, record, dict(params), name)

    def finish(self, status: Literal["FINISHED", "FAILED", "KILLED"], metrics: Metrics) -> None:
        """Write what is still waiting, then end the parent and any trial left RUNNING."""
        self._queue.append((self._end_parent, (status, metrics)))
        if not self._flush():
            text = "MLflow at %s misses the end of this %s; the results are kept, run it again"
            log.warning(text, first_line(self._store.uri), self.kind)

    @contextmanager
    def in_background(self) -> Iterator[None]:
        """Write from a thread meanwhile; at the end, however it comes, all that waits is written.

        MLflow takes a tenth of a second for a trial, in which the workers would be idle.
        """
        self._writer = writer = ThreadPoolExecutor(1, "background")
        try:
            yield
        finally:
            self._writer = None
            writer.shutdown()
            if self._writing:
                self._writing.result()
            if time.monotonic() >= self._retry_at:
                self._flush()

    def _later(self, action: Callable[..., None], *args: Any) -> None:
        self._queue.append((action, args))
        if time.monotonic() < self._retry_at:
            return
        if self._writer is None:
            self._flush()
            return
        if self._writing and not self._writing.done():
            return  # it writes this too, or else the next one does, or `finish`
        if self._writing:
            self._writing.result()  # an error of the time before is raised here
        self._writing = self._writer.submit(self._flush)

    def _flush(self) -> bool:
        """Write what is waiting, in order; False if the store fails."""
        while self._queue:
            action, args = self._queue[0]
            try:
                action(*args)
            except BaseException as error:
                self._listed = False  # what reached the store is unknown
                if not isinstance(error, FAILURES):
                    raise
                if not self._warned:
                    text = "MLflow at %s failed; trials go on and are logged later (%s)"
                    log.warning(text, first_line(self._store.uri), first_line(error))
                self._warned = True
                if getattr(error, "error_code", None) not in REFUSALS:
                    self._retry_at = time.monotonic() + RETRY_SECONDS
                    return False
            self._queue.popleft()
        return True

    # What follows can be repeated after it was cut short anywhere.

    def _list_trials(self) -> None:
        """Read the nested runs with one search; delete doubles of a trial."""
        self._trials = {}
        for run in self._store.children(self._parent):
            info, tags = run.info, dict(run.data.tags)
            if (key := tags.get("trial_key", info.run_id)) in self._trials:
                self._store.client.delete_run(info.run_id)
            else:
                self._trials[key] = _Trial(info.run_id, info.status, set(run.data.params), tags)
        self._listed = True

    def _end_open_trials(self) -> None:
        for trial in self._trials.values():
            if trial.status == "RUNNING":
                self._store.client.set_terminated(trial.run_id, "KILLED")
                trial.status = "KILLED"

    def _find(self, key: str) -> _Trial | None:
        if not self._listed:
            self._list_trials()
        return self._trials.get(key)

    def _open_trial(self, key: str, params: Params, name: str, tags: dict[str, str]) -> None:
        client = self._store.client
        trial = self._find(key)
        if trial is None:
            tags = {**tags, PARENT: self._parent, "kind": "trial", "trial_key": key}
            tags["stage"] = self.kind
            run = client.create_run(self._store.experiment, tags=tags, run_name=name)
            trial = self._trials[key] = _Trial(run.info.run_id, "RUNNING", set(), tags, set())
        elif trial.status != "RUNNING":
            client.update_run(trial.run_id, "RUNNING")
            for stale in [tag for tag in ("failure", "reused") if tag in trial.tags]:
                client.delete_tag(trial.run_id, stale)
                del trial.tags[stale]
            trial.status = "RUNNING"
        if new := {name: value for name, value in params.items() if name not in trial.params}:
            self._store.write(trial.run_id, params=new)
            trial.params.update(new)

    def _log_epochs(
        self, key: str, records: Sequence[EpochRecord], load: Metrics | None = None
    ) -> None:
        trial = self._find(key)
        if trial is None:
            return  # MLflow refused to open it
        if trial.steps is None:
            logged = self._store.client.get_metric_history(trial.run_id, "dev_loss")
            trial.steps = {metric.step for metric in logged}
        new = [record for record in records if record.epoch not in trial.steps]
        for first in range(0, len(new), EPOCHS_PER_BATCH):
            metrics = []
            for record in new[first : first + EPOCHS_PER_BATCH]:
                values = asdict(record)
                metrics += flat_metrics(values, step=values.pop("epoch"))
            if load and new[-1] is records[-1]:
                metrics += flat_metrics(load, step=new[-1].epoch)
            self._store.write(trial.run_id, metrics)
        trial.steps |= {record.epoch for record in new}

    def _end_trial(
        self, key: str, status: str, tags: dict[str, str], history: Sequence[EpochRecord]
    ) -> None:
        self._log_epochs(key, history)
        trial = self._find(key)
        if trial is None:
            return
        tags = {**tags, "epochs": str(len(trial.steps or ()))}
        self._store.write(trial.run_id, flat_metrics(best_figures(history)), tags=tags)
        trial.tags |= tags
        self._store.client.set_terminated(trial.run_id, status)
        trial.status = status

    def _reuse_trial(self, record: TrialRecord, params: Params, name: str) -> None:
        trial, (status, tags) = self._find(record.key), outcome(record)
        expected = (status, str(len(record.history)), tags.get("failure"))
        if trial and (trial.status, *map(trial.tags.get, ("epochs", "failure"))) == expected:
            return
        self._open_trial(record.key, params, name, {"reused": "true"})
        self._end_trial(record.key, status, tags, record.history)

    def _end_parent(self, status: str, metrics: Metrics) -> None:
        self._list_trials()
        self._end_open_trials()
        if flat := flat_metrics(metrics):
            self._store.write(self._parent, flat)
        self._store.client.set_terminated(self._parent, status)
        self._store.release()
