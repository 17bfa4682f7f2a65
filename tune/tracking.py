"""MLflow, written by the driver alone: one parent run per sweep, one nested run per trial.

What it misses while trials run is written from their records when the sweep ends or is run again.
"""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from actmodels.records import EpochRecord, TrialRecord, best_epoch
from tune.grid import Trial
from tune.mlflow_store import (
    FAILURES,
    PARENT,
    TRAINING,
    Metrics,
    RunStore,
    flat_metrics,
    store_errors,
)
from tune.tracking_uri import first_line

log = logging.getLogger(__name__)

Results: TypeAlias = Sequence[tuple[Trial, TrialRecord | str]]
PAUSE = 60.0  # seconds without entries after a failed call, which may have taken as long
EPOCHS_PER_BATCH = 50  # MLflow takes 1000 metrics per call


@dataclass(frozen=True)
class TrialState:
    """What a nested run should show of its trial; load: of the machine, in the last epoch."""

    status: str = "RUNNING"
    history: Sequence[EpochRecord] = ()
    tags: dict[str, str] = field(default_factory=dict)
    load: Metrics = field(default_factory=dict)


def final_state(result: TrialRecord | str) -> TrialState:
    """Return the state of a trial that has ended; it is FAILED too if it diverged."""
    if isinstance(result, str):
        return TrialState("FAILED", tags={"failure": first_line(result)})
    tags = {name: str(value) for name, value in (result.machine or {}).items()}
    tags["epochs"] = str(len(result.history))
    if result.diverged:
        tags["failure"] = f"diverged in epoch {len(result.history)}: a loss was not finite"
    return TrialState("FAILED" if result.diverged else "FINISHED", result.history, tags)


@dataclass
class _Run:
    """A nested run in the store; `epochs`, those already logged, are read when needed."""

    run_id: str
    status: str
    params: set[str]
    tags: dict[str, str]
    epochs: set[int] | None = None


class Tracker:
    """One MLflow parent run (a sweep, or a retraining) with one nested run per trial.

    It is got or created, RUNNING, and nested runs that a crash left open are closed; TrackingError
    if the store cannot be used. After that nothing raises: with MLflow down, `update` drops its
    entries, and `finish` writes them. group: digest that identifies the parent among its kind.
    """

    def __init__(self, kind: str, group: str, tags: Mapping[str, str], state: Path) -> None:
        self.kind = kind
        self._writer: ThreadPoolExecutor | None = None
        self._runs: dict[str, _Run] = {}
        self._listed = False
        self._resume_at = 0.0
        self._warned = False
        self._store = RunStore(state)
        with store_errors(self._store.uri):
            run = self._store.open(kind, group, tags, role=TRAINING)
            self._parent: str = run.info.run_id
            self._store.client.update_run(self._parent, "RUNNING")
            self._list_runs()
            self._end_running()

    def update(self, trial: Trial, state: TrialState) -> None:
        """Bring the nested run of a trial up to date."""
        if self._writer:
            self._writer.submit(self._try, trial, state)
        else:
            self._try(trial, state)

    @contextmanager
    def in_background(self) -> Iterator[None]:
        """Have a thread write the updates, a tenth of a second each, to the last one."""
        try:
            with ThreadPoolExecutor(1, "background") as self._writer:
                yield
        finally:
            self._writer = None

    def finish(self, status: str, metrics: Metrics, results: Results = ()) -> None:
        """Complete the runs of these trials, then end the parent and all that is still RUNNING."""
        try:
            self._list_runs()
            for trial, result in results:
                state, run = final_state(result), self._runs.get(trial.key)
                if not (
                    run and run.status == state.status and state.tags.items() <= run.tags.items()
                ):
                    self._write(trial, state)
            self._end_running()
            self._store.write(self._parent, flat_metrics(metrics))
            self._store.client.set_terminated(self._parent, status)
        except FAILURES as error:
            text = "MLflow at %s misses the end of this %s (%s); the results are kept, run it again"
            log.warning(text, first_line(self._store.uri), self.kind, first_line(error))

    def _try(self, trial: Trial, state: TrialState) -> None:
        """Write a state, unless a call failed a moment ago."""
        if time.monotonic() < self._resume_at:
            return
        try:
            if not self._listed:
                self._list_runs()
            self._write(trial, state)
        except Exception as error:  # if it is ours, `finish` meets it again and raises it
            self._listed = False  # the call may have reached the store
            self._resume_at = time.monotonic() + PAUSE
            if not self._warned:
                text = "MLflow at %s failed; trials go on and are logged later (%s)"
                log.warning(text, first_line(self._store.uri), first_line(error))
            self._warned = True

    def _list_runs(self) -> None:
        """Read the nested runs with one search; delete doubles of a trial."""
        self._runs = {}
        for run in self._store.children(self._parent):
            info, tags = run.info, dict(run.data.tags)
            if (key := tags.get("trial_key", info.run_id)) in self._runs:
                self._store.client.delete_run(info.run_id)
            else:
                self._runs[key] = _Run(info.run_id, info.status, set(run.data.params), tags)
        self._listed = True

    def _end_running(self) -> None:
        for run in self._runs.values():
            if run.status == "RUNNING":
                self._store.client.set_terminated(run.run_id, "KILLED")
                run.status = "KILLED"

    def _write(self, trial: Trial, state: TrialState) -> None:
        """Give a nested run a state; can be repeated after it was cut short anywhere."""
        run = self._opened(trial)
        params = trial.config.flat()
        if new := {name: value for name, value in params.items() if name not in run.params}:
            self._store.write(run.run_id, params=new)
            run.params.update(new)
        self._log_epochs(run, state)
        if state.status == "RUNNING":
            return
        figures: dict[str, float | None] = {}
        if state.history:  # MLflow sorts trials by these
            best = vars(best_epoch(state.history))
            figures = {f"best_{name}": best[name] for name in ("dev_accuracy", "dev_mean_steps")}
            figures["best_epoch"] = best["epoch"]
        self._store.write(run.run_id, flat_metrics(figures), tags=state.tags)
        run.tags |= state.tags
        self._store.client.set_terminated(run.run_id, state.status)
        run.status = state.status

    def _opened(self, trial: Trial) -> _Run:
        """The nested run of a trial, RUNNING."""
        client, run = self._store.client, self._runs.get(trial.key)
        if run is None:
            tags = {PARENT: self._parent, "kind": "trial", "stage": self.kind}
            tags |= {"trial_key": trial.key, "driver": self._store.driver}
            made = client.create_run(self._store.experiment, tags=tags, run_name=trial.name)
            run = self._runs[trial.key] = _Run(made.info.run_id, "RUNNING", set(), tags, set())
        elif run.status != "RUNNING":
            client.update_run(run.run_id, "RUNNING")
            if "failure" in run.tags:
                client.delete_tag(run.run_id, "failure")
                del run.tags["failure"]
            run.status = "RUNNING"
        return run

    def _log_epochs(self, run: _Run, state: TrialState) -> None:
        """Log the epochs that no driver has logged yet."""
        if run.epochs is None:
            logged = self._store.client.get_metric_history(run.run_id, "dev_loss")
            run.epochs = {metric.step for metric in logged}
        new = [record for record in state.history if record.epoch not in run.epochs]
        for first in range(0, len(new), EPOCHS_PER_BATCH):
            batch = new[first : first + EPOCHS_PER_BATCH]
            metrics = []
            for record in batch:
                metrics += flat_metrics(vars(record) | {"epoch": None}, step=record.epoch)
            if batch[-1] is state.history[-1]:
                metrics += flat_metrics(state.load, step=batch[-1].epoch)
            self._store.write(run.run_id, metrics)
            run.epochs |= {record.epoch for record in batch}
