"""The MLflow store behind tune.tracking: the one file that imports mlflow.

Runs are found by their tags and writes can be repeated: the next driver continues a killed one.
"""

import logging
import os
import platform
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from actmodels.errors import UserError
from actmodels.files import replacing
from tune.tracking_uri import artifact_location, first_line, look_at, sqlite_code

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


@dataclass(frozen=True)
class Candidate:
    """A model to register.

    alias: the name it is asked for by. run: the name of its run.
    digest: of all that decides its answers. data: its folder, which `_load_pyfunc` of the loader
    reads. code: folders of packages that it takes along. example: columns of the signature.
    """

    alias: str
    run: str
    digest: str
    data: Path
    code: Sequence[Path]
    loader: str
    requirements: Sequence[str]
    signature: Mapping[str, str]
    example: Mapping[str, Sequence[str]]
    description: str
    tags: Mapping[str, str] = field(default_factory=dict)
    metrics: Metrics = field(default_factory=dict)


class RunStore:
    """The experiment's runs, on the server of MLFLOW_TRACKING_URI or in the state folder.

    What an earlier driver of this machine's folder, a tag, left RUNNING has died with it.
    """

    def __init__(self, state: Path) -> None:
        self.state = state.resolve()
        given = os.environ.get("MLFLOW_TRACKING_URI")
        self.uri = given or f"sqlite:///{self.state / 'mlflow.db'}"
        self.driver = f"{platform.node()}:{self.state}"
        with store_errors(self.uri):
            path = self.state / "mlflow.db"
            if not given and not path.exists():
                for remains in self.state.glob(".mlflow.db.*"):
                    remains.unlink()
                with replacing(path) as temporary:  # MLflow's migrations do not survive a kill
                    MlflowClient(f"sqlite:///{temporary}")
            look_at(self.uri)
            self.client = MlflowClient(self.uri)
            self.artifacts = artifact_location(self.state)
            self.experiment = self._find_experiment()
            for run in self.search("attributes.status = 'RUNNING'"):
                if run.data.tags.get("driver") == self.driver:
                    self.client.set_terminated(run.info.run_id, "KILLED")

    def _find_experiment(self) -> str:
        name, found = find_experiment(self.client, self.artifacts)
        if found is None:
            return str(self.client.create_experiment(name, artifact_location=self.artifacts))
        if found.lifecycle_stage != "active":
            restore = f"mlflow experiments restore --experiment-id {found.experiment_id}"
            raise TrackingError(f"MLflow's experiment {name} was deleted; restore it: {restore}")
        return str(found.experiment_id)

    def search(self, condition: str) -> list[Run]:
        """All runs that meet an MLflow filter, the earliest first."""
        order, where = ["attributes.start_time ASC"], [self.experiment]
        return [*self.client.search_runs(where, condition, max_results=50_000, order_by=order)]

    def children(self, parent: str) -> list[Run]:
        """The nested runs of a run."""
        return self.search(f"tags.`{PARENT}` = '{parent}'")

    def open(
        self, kind: str, group: str, tags: Mapping[str, str], name: str = "", role: str = RESULT
    ) -> Run:
        """Get or create the run of (kind, group); delete its doubles. role: TRAINING or RESULT."""
        tags = {**tags, "kind": kind, "role": role, "group": group, "driver": self.driver}
        found = self.search(f"tags.`kind` = '{kind}' AND tags.`group` = '{group}'")
        if not found:
            name = name or f"{kind}-{group[:8]}"
            return self.client.create_run(self.experiment, tags=tags, run_name=name)
        kept, *doubles = found
        for double in doubles:
            for run in [*self.children(double.info.run_id), double]:
                self.client.delete_run(run.info.run_id)
        self.write(kept.info.run_id, tags=tags)
        return kept

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
        """Make the only logged model of a run; gives its id and where its files belong."""
        condition = f"source_run_id = '{run_id}'"
        for remains in self.client.search_logged_models([self.experiment], condition):
            self.client.delete_logged_model(remains.model_id)
        model = self.client.create_logged_model(self.experiment, name, run_id, tags=dict(tags))
        self.client.log_outputs(run_id, [LoggedModelOutput(model.model_id, step=0)])
        return str(model.model_id), str(model.artifact_location)

    def fetch(self, source: str, folder: str) -> Path:
        """Copy the files of a model version from their location into a folder."""
        from mlflow.artifacts import download_artifacts  # a second, and only here

        return Path(download_artifacts(source, dst_path=folder, tracking_uri=self.uri))


def write_pyfunc(path: Path, run_id: str, model_id: str, item: Candidate) -> None:
    """Write a candidate as a folder that MLflow loads and serves, of this run and logged model."""
    import mlflow.pyfunc  # a second, and only here
    import pandas as pd

    mlflow.pyfunc.save_model(
        str(path),
        loader_module=item.loader,
        data_path=str(item.data),
        code_paths=[str(folder) for folder in item.code],
        mlflow_model=mlflow.models.Model(run_id=run_id, model_id=model_id, model_uuid=model_id),
        signature=mlflow.models.ModelSignature.from_dict(dict(item.signature)),
        input_example=(pd.DataFrame(item.example), {"attention": False}),
        pip_requirements=list(item.requirements),
    )


def find_experiment(client: MlflowClient, location: str | None) -> tuple[str, Experiment | None]:
    """Return the name of this project's experiment, and the experiment if it exists.

    MLflow cannot change absolute locations. A moved or copied project therefore has an experiment
    of its own: it never writes into the folder that it came from.
    """
    found = client.get_experiment_by_name(EXPERIMENT)
    if found is None or location in (None, found.artifact_location):
        return EXPERIMENT, found
    name = f"{EXPERIMENT} in {location}"
    return name, client.get_experiment_by_name(name)


def experiment_id(uri: str, state: Path) -> str | None:
    """The id of this project's experiment in a store; None if nothing was logged there yet."""
    with store_errors(uri):
        _, found = find_experiment(MlflowClient(uri), artifact_location(state))
    return None if found is None else str(found.experiment_id)


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
