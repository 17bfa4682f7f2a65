"""Log a sweep to MLflow, from the driver alone: a parent run with one nested run per trial.

What MLflow misses while trials run is logged from their records when the sweep ends or reruns.
"""

import json
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from threading import Event
from typing import Any, TypeAlias

from actmodels.errors import first_line
from actmodels.files import write_text
from actmodels.records import Epoch, TrialRecord, best_epoch
from tune.tracking.exported_model import Metrics
from tune.tracking.mlflow_store import (
    FAILURES,
    PARENT,
    TRAINING,
    TRAINING_PAGES,
    Metric,
    RunStore,
    flatten_metrics,
    store_errors,
)
from tune.trials.execution import Description
from tune.trials.grid import Trial
from tune.trials.stops import end_text

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LoggedTrial:
    """What MLflow shows of a trial, as it is kept until a server answers again."""

    key: str
    name: str
    configuration_name: str
    settings: dict[str, Any]
    data: str

    @classmethod
    def of(cls, trial: "Trial | LoggedTrial") -> "LoggedTrial":
        """Return the content of a trial."""
        return cls(*(getattr(trial, field.name) for field in fields(cls)))


AnyTrial: TypeAlias = Trial | LoggedTrial
Results: TypeAlias = Sequence[tuple[AnyTrial, TrialRecord | str]]
INTERVAL = 1.0  # seconds between writes in the background; a shorter trial is written once
PAUSE = 60.0  # seconds without writes after a failed call, which may have taken as long
UNLOGGED = "unlogged"  # folder in the state folder: what MLflow misses
UNFINISHED = "null"  # content of a file there: runs may be RUNNING
NOTE, SWEEPS = "mlflow.note.content", "sweeps"  # the description of a run; our tag
STOPPED = "stopped"  # tag of a trial, or of a sweep, that ended early
TABLE, LISTED = "### Best trials", 20  # of the description of a sweep; a tag is limited in length
HEAD = ["| trial | best | epochs | trained by |", "|---|---|---|---|"]
NAMELESS = Description()
EPOCHS = 50  # of a call: MLflow accepts 1000 metrics per call


@dataclass(frozen=True)
class TrialState:
    """The desired content of a nested run; system_metrics: of the last epoch."""

    status: str = "RUNNING"
    history: Sequence[Epoch] = ()
    tags: dict[str, str] = field(default_factory=dict)
    system_metrics: Metrics = field(default_factory=dict)


def final_state(result: TrialRecord | str) -> TrialState:
    """Return the state of a trial that has ended; FAILED for an error or a diverged trial."""
    if isinstance(result, str):
        return TrialState("FAILED", tags={"failure": first_line(result)})
    tags = {name: str(value) for name, value in (result.machine or {}).items()}
    tags["epochs"] = str(len(result.history))
    if end := end_text(result):
        tags["failure" if result.diverged else STOPPED] = end
    return TrialState("FAILED" if result.diverged else "FINISHED", result.history, tags)


def epoch_metrics(records: Sequence[Epoch]) -> list[Metric]:
    """Return the metrics of these epochs, each at its step."""
    return [
        metric
        for record in records
        for metric in flatten_metrics(record.logged(), step=record.epoch)
    ]


def last_metrics(state: TrialState) -> list[Metric]:
    """Return what is logged once: system metrics, and of a trial that has ended its best epoch."""
    if not state.history:
        return []
    metrics = flatten_metrics(state.system_metrics, step=state.history[-1].epoch)
    if state.status == "RUNNING":
        return metrics
    best = best_epoch(state.history)  # by these MLflow sorts trials
    values = {f"best_{name}": value for name, value in best.headline().items()}
    return metrics + flatten_metrics(values | {"best_epoch": best.epoch})


@dataclass
class _Run:
    """A nested run in the store.

    epochs: those logged, None if not known; described: whether this driver logged its settings.
    """

    run_id: str
    status: str
    tags: dict[str, str]
    epochs: set[int] | None = None
    described: bool = False


class Tracker:
    """An MLflow parent run (a sweep, or a retraining), and a run for each trial.

    A trial has one run for ever: a sweep that reuses it adds itself to the tag `sweeps`, and the
    run stays nested in the sweep that trained it. The parent is created or reopened, and runs that
    a crash left RUNNING are KILLED; TrackingError if the store cannot be used. Later nothing
    raises: while MLflow is down, `update` drops its content, and `finish` writes it.

    Args:
        group: digest that identifies the parent.
        data: name and folder of the training data, which is not logged without a name.
        about: name, notes and tags, for people.
    """

    def __init__(
        self,
        stage: str,
        group: str,
        tags: Mapping[str, str],
        state: Path,
        data: tuple[str, Path] = ("", Path()),
        about: Description = NAMELESS,
    ) -> None:
        self.stage, self._group, self._tags, self._data = stage, group, dict(tags), data
        self._about, self._name = about, f"{about.name or stage}-{group[:8]}"
        self._note = state / UNLOGGED / f"{stage}-{group}.json"
        self._in_background = False
        self._latest: dict[str, tuple[AnyTrial, TrialState, int]] = {}  # with the time, in ms
        self._starts: dict[str, int] = {}
        self._runs: dict[str, _Run] = {}
        self._listed = False
        self._resume_at = 0.0
        self._warned = False
        self._store = RunStore(state, commit=self._tags.get("git_commit", ""))
        if not self._note.exists():
            write_text(self._note, UNFINISHED)
        with store_errors(state):
            tags = {**about.tags, **tags}
            run = self._store.open(stage, group, tags, self._name, role=TRAINING)
            self._parent: str = run.info.run_id
            self._description = run.data.tags.get(NOTE, "")
            self._store.client.update_run(self._parent, "RUNNING", self._name)
            if STOPPED in run.data.tags.keys() - tags.keys():
                self._store.client.delete_tag(self._parent, STOPPED)
            self._list_runs()
            self._kill_running()

    def update(self, trial: AnyTrial, state: TrialState) -> None:
        """Write the state of a trial to its nested run; in the background only the latest state."""
        now = int(time.time() * 1000)
        self._starts.setdefault(trial.key, now)
        self._latest[trial.key] = trial, state, now
        if not self._in_background:
            self._write_latest()

    @contextmanager
    def in_background(self) -> Iterator[None]:
        """Write the updates of the block in a thread; a trial takes about 0.05 s."""
        ended = Event()

        def write() -> None:
            while not ended.wait(INTERVAL):
                self._write_latest()
            self._write_latest()

        with ThreadPoolExecutor(1, "background") as executor:
            executor.submit(write)
            self._in_background = True
            try:
                yield
            finally:
                self._in_background = False
                ended.set()

    def finish(
        self, status: str, metrics: Metrics, results: Results = (), stopped: str = ""
    ) -> None:
        """Complete the runs of these trials, then end the parent and all RUNNING runs.

        stopped: what ended the sweep with its best, and when; a tag.
        """
        self._tags |= {STOPPED: stopped} if stopped else {}
        try:
            if not self._listed:  # a call failed; a list of 5,000 runs takes MLflow 20 s
                self._list_runs()
            for trial, result in results:
                state = final_state(result)
                if not self._is_complete(trial, state):
                    self._write(trial, state)
                self._refer(self._runs[trial.key])
            self._kill_running()
            description = self._tags | {NOTE: self._describe(results)}
            self._store.write(self._parent, flatten_metrics(metrics), tags=description)
            self._store.client.set_terminated(self._parent, status)
            self._note.unlink(missing_ok=True)
        except FAILURES as error:
            if status == "FINISHED":  # else the stage runs again
                done = [pair for pair in results if isinstance(pair[1], TrialRecord)]
                records = [record.to_json() for _, record in done]  # type: ignore[union-attr]
                logged = [asdict(LoggedTrial.of(trial)) for trial, _ in done]
                data, about = (self._data[0], str(self._data[1])), asdict(self._about)
                arguments = (self.stage, self._group, self._tags, *data, about)
                write_text(self._note, json.dumps([arguments, metrics, logged, records]))
            text = "MLflow at %s misses the end of this %s (%s); the results are kept, and logged "
            text += "by the next stage that trains or reports, or act-nli command"
            log.warning(text, first_line(self._store.uri), self.stage, first_line(error))

    def _write_latest(self) -> None:
        """Write the latest states, unless a call failed in the last PAUSE seconds."""
        for key in list(self._latest):
            trial, state, now = self._latest.pop(key)
            if time.monotonic() >= self._resume_at:
                self._try(trial, state, now)

    def _try(self, trial: AnyTrial, state: TrialState, now: int) -> None:
        try:
            if not self._listed:
                self._list_runs()
            self._write(trial, state, now)
        except Exception as error:  # `finish` meets errors of our own code again and raises them
            self._listed = False  # the call may have reached the store
            self._resume_at = time.monotonic() + PAUSE
            if not self._warned:
                text = "MLflow at %s failed; trials continue and are logged later (%s)"
                log.warning(text, first_line(self._store.uri), first_line(error))
            self._warned = True

    def _list_runs(self) -> None:
        """Read the runs of the stage's trials; delete duplicates of a trial."""
        self._runs = {}
        parents = {run.info.run_id for run in self._store.find(kind=self.stage)}
        for run in self._store.find(kind="trial", stage=self.stage):
            info, tags = run.info, dict(run.data.tags)
            if (key := tags.get("trial_key", info.run_id)) in self._runs:
                self._store.client.delete_run(info.run_id)
                continue
            self._runs[key] = _Run(info.run_id, info.status, tags)
            if tags.get(PARENT) not in parents:  # it was deleted, or the run was moved
                self._store.write(info.run_id, tags={PARENT: self._parent})
                self._runs[key].tags[PARENT] = self._parent
        self._listed = True

    def _refer(self, run: _Run) -> None:
        """Add this sweep to the tag of the sweeps of a trial's run."""
        sweeps = [name for name in run.tags.get(SWEEPS, "").split(", ") if name]
        if self._name not in sweeps:
            run.tags[SWEEPS] = ", ".join([*sweeps, self._name])
            self._store.write(run.run_id, tags={SWEEPS: run.tags[SWEEPS]})

    def _describe(self, results: Results) -> str:
        """Return the description of the parent: the user's text, and a table of the best trials."""
        text = self._description.partition(TABLE)[0].rstrip() or self._about.notes
        rows = [(trial, record) for trial, record in results if isinstance(record, TrialRecord)]
        rows.sort(key=lambda row: (row[1].diverged, -row[1].score))
        lines = [f"{len(results)} trials: `tags.{SWEEPS} LIKE '%{self._name}%'`", "", *HEAD]
        for trial, record in rows[:LISTED]:
            run = self._runs[trial.key]
            page = f"#/experiments/{self._store.experiment}/runs/{run.run_id}?{TRAINING_PAGES}"
            link = f"[{trial.name}]({page})"
            source = "" if run.tags.get(PARENT) == self._parent else "of an earlier sweep"
            score = "diverged" if record.diverged else record.best.text
            lines.append(f"| {link} | {score} | {len(record.history)} | {source} |")
        return "\n".join([text, "", TABLE, "", *lines]).lstrip()

    def _kill_running(self) -> None:
        for run in self._runs.values():
            if run.status == "RUNNING":
                self._store.client.set_terminated(run.run_id, "KILLED")
                run.status = "KILLED"

    def _epochs(self, run: _Run) -> set[int]:
        """Return the logged epochs of a run."""
        if run.epochs is None:
            history = self._store.client.get_metric_history(run.run_id, "dev_loss")
            run.epochs = {metric.step for metric in history}
        return run.epochs

    def _is_complete(self, trial: AnyTrial, state: TrialState) -> bool:
        """Return whether the run of a trial has its final state."""
        run = self._runs.get(trial.key)
        if run is None or run.status != state.status or state.tags.items() - run.tags.items():
            return False
        return {record.epoch for record in state.history} <= self._epochs(run)

    def _write(self, trial: AnyTrial, state: TrialState, now: int | None = None) -> None:
        """Write a state to a nested run; can be repeated after a crash at any point.

        Of a short trial that is four calls: its run, its data, everything else, its end.
        """
        run, store = self._open(trial), self._store
        epochs = self._epochs(run)
        params = {} if run.described else trial.settings
        if params and self._data[0]:
            store.log_data(run.run_id, *self._data, trial.data)
        new = [record for record in state.history if record.epoch not in epochs]
        batches = [new[first : first + EPOCHS] for first in range(0, len(new), EPOCHS)] or [[]]
        for batch in batches:
            metrics, tags = epoch_metrics(batch), dict[str, str]()
            if batch is batches[-1]:
                metrics, tags = metrics + last_metrics(state), state.tags
            if metrics or params or tags:
                store.write(run.run_id, metrics, params, tags)
            epochs |= {record.epoch for record in batch}
            run.described, params = True, {}
        run.tags |= state.tags
        if state.status != "RUNNING":
            store.client.set_terminated(run.run_id, state.status, now)
            run.status = state.status

    def _open(self, trial: AnyTrial) -> _Run:
        """Create or reopen the nested run of a trial, RUNNING."""
        client, run = self._store.client, self._runs.get(trial.key)
        if run is None:
            tags = {**self._about.tags, PARENT: self._parent, "kind": "trial", "stage": self.stage}
            tags |= {"trial_key": trial.key, "group": self._group, SWEEPS: self._name}
            tags["configuration"] = trial.configuration_name  # groups the seeds on MLflow's page
            new = self._store.create(self.stage, trial.name, tags, self._starts.get(trial.key))
            run = self._runs[trial.key] = _Run(new.info.run_id, "RUNNING", tags, epochs=set())
        elif run.status != "RUNNING":
            client.update_run(run.run_id, "RUNNING")
            for tag in run.tags.keys() & {"failure", STOPPED}:
                del run.tags[tag]
                client.delete_tag(run.run_id, tag)
            run.status = "RUNNING"
        return run


def log_missing(state: Path) -> None:
    """Log the ends of sweeps that MLflow misses, as it was away, and end runs of a dead driver."""
    for path in sorted((state / UNLOGGED).glob("*.json")):
        if (text := path.read_text("utf-8")) == UNFINISHED:
            RunStore(state)
            path.unlink()
            continue
        (stage, group, tags, data, folder, about), metrics, logged, texts = json.loads(text)
        records = [TrialRecord.from_json(text) for text in texts]
        trials = [LoggedTrial(**trial) for trial in logged]
        place, description = (data, Path(folder)), Description(**about)
        tracker = Tracker(stage, group, tags, state, place, description)
        tracker.finish("FINISHED", metrics, list(zip(trials, records, strict=True)))


@contextmanager
def logging_results(state: Path) -> Iterator[RunStore]:
    """Yield the store, into which everything before is logged; the next command ends its runs."""
    log_missing(state)
    store, note = RunStore(state), state / UNLOGGED / "results.json"
    write_text(note, UNFINISHED)
    with store_errors(state):
        yield store
    note.unlink()
