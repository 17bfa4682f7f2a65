"""The MLflow store behind tune.tracking: the one file that imports mlflow.

Runs are found by their tags and writes can be repeated: the next driver continues a killed one.
"""

import fcntl
import hashlib
import logging
import os
import sqlite3
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeAlias

from actmodels.errors import UserError
from actmodels.files import replacing
from tune.addresses import SQLITE, artifact_location, first_line, look_at, sqlite_code

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

from alembic.util import CommandError  # noqa: E402
from mlflow import MlflowClient  # noqa: E402
from mlflow.entities import Experiment, LoggedModelOutput, Metric, Param, Run, RunTag  # noqa: E402
from mlflow.exceptions import MlflowException  # noqa: E402
from sqlalchemy.exc import SQLAlchemyError  # noqa: E402

logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)  # a line per retry otherwise

Metrics: TypeAlias = Mapping[str, "float | Metrics | None"]
Params: TypeAlias = Mapping[str, str | int | float | bool]

EXPERIMENT = "act-nli"
PARENT = "mlflow.parentRunId"
TRAINING, RESULT = "training", "result"  # roles of runs that are not trials
FAILURES = (MlflowException, SQLAlchemyError, CommandError, sqlite3.Error, OSError, ImportError)
DAMAGED = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class TrackingError(UserError):
    """MLflow's store cannot be used; raised before any trial is run."""


@contextmanager
def store_errors(uri: str) -> Iterator[None]:
    """Turn a failure of the store into one sentence for the user."""
    try:
        yield
    except FAILURES as error:
        code = sqlite_code(error)
        if isinstance(error, ImportError):
            hint = "install what such a store needs"
        elif getattr(error, "filename", None) not in (None, uri.removeprefix(SQLITE)):
            hint = "mend the file that is named and run again"
        elif code == sqlite3.SQLITE_FULL:
            hint = "make room on its disk and run again"
        elif code == sqlite3.SQLITE_READONLY:
            hint = "make the file and its folder writable and run again"
        elif os.environ.get("MLFLOW_TRACKING_URI"):
            hint = "start it, or unset MLFLOW_TRACKING_URI to log into the state folder"
        elif code in DAMAGED:
            hint = "move it away, and the next run writes it again from the finished trials"
        else:
            hint = "mend that and run again"
        text = f"MLflow cannot use {first_line(uri)}; {hint} ({first_line(error)})"
        raise TrackingError(text) from error


def check_address(uri: str) -> None:
    """Look at an address before MLflow does; TrackingError if it is none, or of no database."""
    with store_errors(uri):
        look_at(uri)


class RunStore:
    """The experiment's runs, on the server of MLFLOW_TRACKING_URI or in the state folder.

    Its `driver` is a file that this process keeps locked. The kernel frees the lock however the
    process ends, which is how the next driver tells a crashed sweep from one still running.
    """

    def __init__(self, state: Path) -> None:
        self.state = state.resolve()
        self.database = self.state / "mlflow.db"
        given = os.environ.get("MLFLOW_TRACKING_URI")
        self.uri = given or f"sqlite:///{self.database}"
        with store_errors(self.uri):
            self.state.mkdir(parents=True, exist_ok=True)
            if not given:
                self._prepare_database()
            look_at(self.uri)
            self.client = MlflowClient(self.uri)
            self.artifacts = artifact_location(self.state)
            self.experiment = self._find_experiment()
            digest = hashlib.sha256(self.uri.encode()).hexdigest()[:12]
            self.driver = self.state / "drivers" / digest / uuid.uuid4().hex
            self.driver.parent.mkdir(parents=True, exist_ok=True)
            self._lock = self.driver.open("w")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._close_orphans()

    def _prepare_database(self) -> None:
        """Create the database whole: MLflow's migrations stand neither a kill nor a rival."""
        with (self.state / "mlflow.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.database.exists():
                for remains in self.state.glob(".mlflow.db.*"):
                    remains.unlink()
                with replacing(self.database) as temporary:
                    MlflowClient(f"sqlite:///{temporary}")

    def _find_experiment(self) -> str:
        name, found = find_experiment(self.client, self.artifacts)
        if found is None:
            return str(self.client.create_experiment(name, artifact_location=self.artifacts))
        if found.lifecycle_stage != "active":
            restore = f"mlflow experiments restore --experiment-id {found.experiment_id}"
            raise TrackingError(f"MLflow's experiment {name} was deleted; restore it: {restore}")
        return str(found.experiment_id)

    def _close_orphans(self) -> None:
        """Mark as KILLED what drivers of this folder that no longer live left RUNNING."""
        dead = [path for path in sorted(self.driver.parent.iterdir()) if is_free(path)]
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
        find = partial(self.client.search_runs, [self.experiment], condition, max_results=1000)
        token: str | None = ""
        while token is not None:
            runs.extend(page := find(page_token=token or None))
            token = page.token or None

        def rank(run: Run) -> tuple[bool, bool, int, str]:
            info = run.info
            return info.status != "FINISHED", not run.data.metrics, info.start_time, info.run_id

        return sorted(runs, key=rank)

    def children(self, parent: str) -> list[Run]:
        """The nested runs of a run."""
        return self.search(f"tags.`{PARENT}` = '{parent}'")

    def open(
        self, kind: str, group: str, tags: Mapping[str, str], name: str = "", role: str = RESULT
    ) -> Run:
        """Get or create the run of (kind, group); delete its doubles. role: for the views."""
        tags = {**tags, "kind": kind, "role": role, "group": group, "driver": self.driver.name}
        found = self.search(f"tags.`kind` = '{kind}' AND tags.`group` = '{group}'")
        if not found:
            name = name or f"{kind}-{group[:8]}"
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

    def new_model(self, name: str, run_id: str, tags: Mapping[str, str]) -> tuple[str, str]:
        """A logged model of a run, still without files; gives its id and where they belong."""
        create = partial(self.client.create_logged_model, self.experiment, name, run_id)
        model = create(tags=dict(tags))
        self.client.log_outputs(run_id, [LoggedModelOutput(model.model_id, step=0)])
        return str(model.model_id), str(model.artifact_location)

    def fetch(self, source: str, folder: Path) -> Path:
        """Copy the files of a model version from their location into a folder."""
        from mlflow.artifacts import download_artifacts  # a second, and only here

        return Path(download_artifacts(source, dst_path=str(folder), tracking_uri=self.uri))

    def models_of(self, run_id: str) -> list[str]:
        """Ids of the logged models of a run."""
        condition = f"source_run_id = '{run_id}'"
        found = self.client.search_logged_models([self.experiment], condition)
        return [str(model.model_id) for model in found]


def write_pyfunc(
    path: Path,
    *,
    ids: tuple[str, str],
    loader: str,
    data: Path,
    code: Sequence[Path],
    requirements: Sequence[str],
    signature: Mapping[str, str],
    example: Mapping[str, Sequence[str]],
) -> None:
    """Write a model as a folder that MLflow loads and serves.

    Args:
        ids: of the run and of the logged model that the folder belongs to.
        loader, data: module whose `_load_pyfunc` reads the files in `data`.
        code: folders of packages that go along.
        signature: inputs, outputs and parameters, each as MLflow's JSON. example: input columns.
    """
    import mlflow.pyfunc  # a second, and only here
    import pandas as pd

    run_id, model_id = ids
    mlflow.pyfunc.save_model(
        str(path),
        loader_module=loader,
        data_path=str(data),
        code_paths=[str(folder) for folder in code],
        mlflow_model=mlflow.models.Model(run_id=run_id, model_id=model_id, model_uuid=model_id),
        signature=mlflow.models.ModelSignature.from_dict(dict(signature)),
        input_example=(pd.DataFrame(example), {"attention": False}),
        pip_requirements=list(requirements),
    )


def find_experiment(client: MlflowClient, location: str | None) -> tuple[str, Experiment | None]:
    """Return the name of this project's experiment, and the experiment if it exists.

    MLflow stores absolute locations and cannot change them. A moved or copied project therefore
    has an experiment of its own: it never writes into the folder that it came from.
    """
    found = client.get_experiment_by_name(EXPERIMENT)
    if found is None or location in (None, found.artifact_location):
        return EXPERIMENT, found
    name = f"{EXPERIMENT} in {location}"
    return name, client.get_experiment_by_name(name)


def experiment_id(uri: str, state: Path) -> str | None:
    """The id of this project's experiment in a store; None if nothing was logged there yet.

    Raises:
        TrackingError: the store cannot be used.
    """
    with store_errors(uri):
        _, found = find_experiment(MlflowClient(uri), artifact_location(state))
    return None if found is None else str(found.experiment_id)


def is_free(path: Path) -> bool:
    """Whether the process that locked the file has ended."""
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def flat_metrics(values: Metrics, step: int = 0, prefix: str = "") -> list[Metric]:
    """Flat metrics, named `outer.inner`; None is left out."""
    now = int(time.time() * 1000)
    flat: list[Metric] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat += flat_metrics(value, step, f"{prefix}{name}.")
        elif value is not None:
            flat.append(Metric(prefix + name, float(value), now, step))
    return flat
