"""MLflow, written by the driver alone: one parent run per sweep, one nested run per trial.

Runs are found by their tags and every write can be repeated, so a driver that was killed anywhere
is continued by the next one. Results never depend on MLflow: a store that fails in mid-sweep is
warned about once, and what it missed is logged later.
"""

import fcntl
import hashlib
import logging
import os
import platform
import re
import sqlite3
import subprocess
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TypeAlias

from actmodels.errors import UserError
from actmodels.files import replacing
from actmodels.records import EpochRecord, TrialRecord

# Read by MLflow while it is imported, hence set before; what the user has set stands. Its own
# seven retries would hold up the driver for minutes at every call to a server that is down.
for _name, _value in {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_LOGGING_LEVEL": "CRITICAL",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
}.items():
    os.environ.setdefault(_name, _value)

from mlflow import MlflowClient  # noqa: E402
from mlflow.entities import Experiment, Metric, Param, Run, RunTag  # noqa: E402
from mlflow.exceptions import MlflowException  # noqa: E402
from sqlalchemy.exc import SQLAlchemyError  # noqa: E402

logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)  # a line per retry otherwise
log = logging.getLogger(__name__)

Metrics: TypeAlias = Mapping[str, "float | Metrics | None"]
Params: TypeAlias = Mapping[str, str | int | float | bool]

EXPERIMENT = "act-nli"
PARENT = "mlflow.parentRunId"
RETRY_SECONDS = 300.0  # pause after a failed call; every trial waits while the driver does
EPOCHS_PER_BATCH = 50  # MLflow takes 1000 metrics at once
FAILURES = (MlflowException, SQLAlchemyError, sqlite3.Error, OSError)
# Repeating the call cannot help, for instance when somebody deleted the run meanwhile.
REFUSALS = {"INVALID_PARAMETER_VALUE", "RESOURCE_DOES_NOT_EXIST", "BAD_REQUEST", "INVALID_STATE"}


class TrackingError(UserError):
    """MLflow's store cannot be used; raised before any trial is run."""


def _reason(error: object) -> str:
    """First line, cut, and without the password that an address may hold."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return re.sub(r"//[^/@\s]*@", "//", lines[0])[:300]


class _Store:
    """The experiment's runs, on the server of MLFLOW_TRACKING_URI or in the state folder.

    Its `driver` is a file that this process keeps locked. The kernel frees the lock however the
    process ends, which is how the next driver tells a crashed sweep from one still running.
    """

    def __init__(self, state: Path) -> None:
        self.state = state.resolve()
        self.database = self.state / "mlflow.db"
        given = os.environ.get("MLFLOW_TRACKING_URI")
        self.uri = given or f"sqlite:///{self.database}"
        with self.errors():
            self.state.mkdir(parents=True, exist_ok=True)
            if not given:
                self._prepare_database()
            self.client = MlflowClient(self.uri)
            self.experiment = self._find_experiment(artifacts=None if given else "mlartifacts")
            digest = hashlib.sha256(self.uri.encode()).hexdigest()[:12]
            self.driver = self.state / "drivers" / digest / uuid.uuid4().hex
            self.driver.parent.mkdir(parents=True, exist_ok=True)
            self._lock = self.driver.open("w")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._close_orphans()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn a failure of the store into one sentence for the user."""
        try:
            yield
        except FAILURES as error:
            if self.uri.endswith(str(self.database)):
                hint = "move it away, and the next run writes it anew from the finished trials"
            else:
                hint = "start it, or unset MLFLOW_TRACKING_URI to log into the state folder"
            text = f"MLflow cannot use {_reason(self.uri)}; {hint} ({_reason(error)})"
            raise TrackingError(text) from error

    def _prepare_database(self) -> None:
        """Create the database whole: MLflow's migrations stand neither a kill nor a rival."""
        with (self.state / "mlflow.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.database.exists():
                for remains in self.state.glob(".mlflow.db.*"):
                    remains.unlink()
                with replacing(self.database) as temporary:
                    MlflowClient(f"sqlite:///{temporary}")
        # MLflow would retry an unusable file for 100 s.
        with closing(sqlite3.connect(self.database, timeout=20)) as connection:
            connection.execute("PRAGMA schema_version")

    def _find_experiment(self, artifacts: str | None) -> str:
        found: Experiment | None = self.client.get_experiment_by_name(EXPERIMENT)
        if found is None:
            location = (self.state / artifacts).as_uri() if artifacts else None
            return str(self.client.create_experiment(EXPERIMENT, artifact_location=location))
        if found.lifecycle_stage != "active":
            raise TrackingError(
                f"MLflow's experiment {EXPERIMENT} in {_reason(self.uri)} was deleted; restore it "
                f"with `mlflow experiments restore --experiment-id {found.experiment_id}`"
            )
        return str(found.experiment_id)

    def _close_orphans(self) -> None:
        """Mark as KILLED what drivers of this folder that no longer live left RUNNING."""
        dead = [path for path in sorted(self.driver.parent.iterdir()) if _is_free(path)]
        if not dead:
            return
        names = {path.name for path in dead}
        running = self.search("attributes.status = 'RUNNING'")
        owned = {run.info.run_id for run in running if run.data.tags.get("driver") in names}
        # Nested runs first: if we are killed here, the parent still leads to the others.
        for run in sorted(running, key=lambda run: PARENT not in run.data.tags):
            if run.info.run_id in owned or run.data.tags.get(PARENT) in owned:
                self.client.set_terminated(run.info.run_id, "KILLED")
        for path in dead:
            path.unlink(missing_ok=True)

    def release(self) -> None:
        """No run of this process is RUNNING any more."""
        self.driver.unlink(missing_ok=True)
        self._lock.close()

    def search(self, condition: str) -> list[Run]:
        """All runs that meet an MLflow filter; of doubles, the one to keep comes first."""
        runs: list[Run] = []
        token: str | None = ""
        while token is not None:
            page = self.client.search_runs(
                [self.experiment], condition, max_results=1000, page_token=token or None
            )
            runs.extend(page)
            token = page.token or None

        def rank(run: Run) -> tuple[bool, bool, int, str]:
            info = run.info
            return info.status != "FINISHED", not run.data.metrics, info.start_time, info.run_id

        return sorted(runs, key=rank)

    def children(self, parent: str) -> list[Run]:
        return self.search(f"tags.`{PARENT}` = '{parent}'")

    def open(self, kind: str, group: str, tags: Mapping[str, str]) -> Run:
        """Get or create the run of (kind, group), owned by this process; delete its doubles."""
        tags = {**tags, "kind": kind, "group": group, "driver": self.driver.name}
        found = self.search(f"tags.`kind` = '{kind}' AND tags.`group` = '{group}'")
        if not found:
            name = f"{kind}-{group[:8]}"
            return self.client.create_run(self.experiment, tags=tags, run_name=name)
        for double in found[1:]:
            for run in [*self.children(double.info.run_id), double]:
                self.client.delete_run(run.info.run_id)
        self.write(found[0].info.run_id, tags=tags)
        return found[0]

    def write(
        self,
        run_id: str,
        metrics: Sequence[Metric] = (),
        params: Params | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        """One call for any number of entries."""
        listed = [Param(name, str(value)) for name, value in (params or {}).items()]
        marks = [RunTag(name, value) for name, value in (tags or {}).items()]
        self.client.log_batch(run_id, metrics, listed, marks, synchronous=True)


def _is_free(path: Path) -> bool:
    """Whether the process that locked the file has ended."""
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _metrics(values: Metrics, step: int = 0, prefix: str = "") -> list[Metric]:
    """Flat metrics, named `outer.inner`; None is left out."""
    now = int(time.time() * 1000)
    flat: list[Metric] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat += _metrics(value, step, f"{prefix}{name}.")
        elif value is not None:
            flat.append(Metric(prefix + name, float(value), now, step))
    return flat


@dataclass
class _Trial:
    """What is known of a nested run; `steps` (epochs already logged) is read when needed."""

    run_id: str
    status: str
    params: set[str]
    tags: dict[str, str]
    steps: set[int] | None = None


class Tracker:
    """One MLflow parent run (a sweep, or a retraining) with one nested run per trial.

    Only `start` raises. The other methods may be called with MLflow down: their entries wait in
    order and are written when it answers again, at the latest by `finish`.

    Args:
        kind: "sweep" or "retrain".
        group: digest that identifies the parent among its kind, such as the grid's.
        tags: provenance of the parent run.
        state: folder of run state, which outlives the stage.
    """

    _store: _Store
    _parent: str

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
        self._store = _Store(self.state)
        with self._store.errors():
            self._parent = self._store.open(self.kind, self.group, self.tags).info.run_id
            self._store.client.update_run(self._parent, "RUNNING")
            self._list_trials()
            self._end_open_trials()

    def trial_started(self, key: str, params: Params, name: str) -> None:
        """The trial trains: its nested run is RUNNING, again if need be. Parameters once."""
        self._later(self._open_trial, key, dict(params), name, {})

    def trial_epoch(self, key: str, record: EpochRecord) -> None:
        """Log one epoch, unless this or an earlier driver has logged it."""
        self._later(self._log_epochs, key, (record,))

    def trial_finished(self, key: str, record: TrialRecord | None = None) -> None:
        """The trial is done; `record` fills in epochs that no driver had the time to log."""
        self._later(self._end_trial, key, "FINISHED", {}, record.history if record else ())

    def trial_failed(self, key: str, reason: str) -> None:
        """The trial gave up; the first line of `reason` becomes a tag."""
        self._later(self._end_trial, key, "FAILED", {"failure": _reason(reason)}, ())

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
            log.warning(text, _reason(self._store.uri), self.kind)

    def _later(self, action: Callable[..., None], *args: Any) -> None:
        self._queue.append((action, args))
        if time.monotonic() >= self._retry_at:
            self._flush()

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
                    log.warning(text, _reason(self._store.uri), _reason(error))
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

    def _log_epochs(self, key: str, records: Sequence[EpochRecord]) -> None:
        trial = self._find(key)
        if trial is None:
            return  # MLflow refused to open it
        if trial.steps is None:
            logged = self._store.client.get_metric_history(trial.run_id, "dev_loss")
            trial.steps = {metric.step for metric in logged}
        new = [record for record in records if record.epoch not in trial.steps]
        for first in range(0, len(new), EPOCHS_PER_BATCH):
            metrics: list[Metric] = []
            for record in new[first : first + EPOCHS_PER_BATCH]:
                values = asdict(record)
                metrics += _metrics(values, step=values.pop("epoch"))
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
        self._store.write(trial.run_id, tags=tags)
        trial.tags |= tags
        self._store.client.set_terminated(trial.run_id, status)
        trial.status = status

    def _reuse_trial(self, record: TrialRecord, params: Params, name: str) -> None:
        trial, epochs = self._find(record.key), str(len(record.history))
        if trial and (trial.status, trial.tags.get("epochs")) == ("FINISHED", epochs):
            return
        self._open_trial(record.key, params, name, {"reused": "true"})
        self._end_trial(record.key, "FINISHED", {}, record.history)

    def _end_parent(self, status: str, metrics: Metrics) -> None:
        self._list_trials()
        self._end_open_trials()
        if flat := _metrics(metrics):
            self._store.write(self._parent, flat)
        self._store.client.set_terminated(self._parent, status)
        self._store.release()


def log_report(folder: Path, metrics: Metrics, state: Path = Path("state")) -> None:
    """Keep a report (every file of `folder`, as artifacts) in a run of kind "report".

    The same files give the same run, whenever and however often they are logged.

    Raises:
        TrackingError: the store cannot be used.
    """
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    _log_run("report", digest.hexdigest()[:16], provenance_tags(), metrics, state, folder)


def log_evaluation(
    kind: str, group: str, tags: Mapping[str, str], metrics: Metrics, state: Path = Path("state")
) -> None:
    """Log figures of finished models in the one run of (kind, group), such as "evaluate".

    Nested metrics are flattened: "decomposable_attention.test_accuracy_mean".

    Raises:
        TrackingError: the store cannot be used.
    """
    _log_run(kind, group, tags, metrics, state, None)


def _log_run(
    kind: str,
    group: str,
    tags: Mapping[str, str],
    metrics: Metrics,
    state: Path,
    folder: Path | None,
) -> None:
    store = _Store(state)
    with store.errors():
        run = store.open(kind, group, tags)
        run_id = run.info.run_id
        known = run.data.metrics
        if new := [metric for metric in _metrics(metrics) if known.get(metric.key) != metric.value]:
            store.write(run_id, new)
        if folder and run.info.status != "FINISHED":
            store.client.log_artifacts(run_id, str(folder))
        if run.info.status != "FINISHED":
            store.client.set_terminated(run_id, "FINISHED")
        store.release()


def provenance_tags() -> dict[str, str]:
    """Commit of the code and versions of what computes the results.

    The commit ends in "-dirty" if tracked files differ from it, other than those that a run of
    the pipeline rewrites itself (dvc.lock, artefacts); it is "unknown" outside git.
    """
    folder = Path(__file__).parent

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        commit = git("rev-parse", "HEAD")
        outputs = (":(top,exclude)dvc.lock", ":(top,exclude)artefacts")
        if git("status", "--porcelain", "--untracked-files=no", "--", ":/", *outputs):
            commit += "-dirty"
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"
    versions = {f"{name}_version": version(name) for name in ("torch", "ray")}
    return {"git_commit": commit, "python_version": platform.python_version(), **versions}
