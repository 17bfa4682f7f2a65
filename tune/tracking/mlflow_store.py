"""The project's runs and models in MLflow: the one file that imports it.

Runs are identified by tags and every write can be repeated, so that the next driver completes
what a killed one left.
"""

import json
import logging
import os
import shlex
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from actmodels.errors import UserError, first_line
from actmodels.files import replacing
from tune.tracking import tracking_uri as uris
from tune.tracking.exported_model import ExportedModel, Metrics
from tune.tracking.tracking_uri import project_id
from tune.trials.provenance import commit, user

# MLflow reads these when it is imported; the user's values take precedence. Its default of seven
# retries would block the driver for minutes at every call to a server that is down.
for _name, _value in {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_LOGGING_LEVEL": "CRITICAL",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
    "MLFLOW_HTTP_RESPECT_RETRY_AFTER_HEADER": "false",  # it may be minutes
}.items():
    os.environ.setdefault(_name, _value)

from alembic.util import CommandError  # noqa: E402
from mlflow import MlflowClient, __version__, entities  # noqa: E402
from mlflow.entities import Metric as Metric  # noqa: E402  # used by tune.tracking.tracker
from mlflow.exceptions import MlflowException  # noqa: E402
from sqlalchemy.exc import SQLAlchemyError  # noqa: E402

logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)  # it logs every retry

Params: TypeAlias = Mapping[str, str | int | float | bool]

EXPERIMENT, RUNNING = "act-nli", "attributes.status = 'RUNNING'"
PARENT = "mlflow.parentRunId"
TRAINING_PAGES = "workflowType=machine_learning"  # else MLflow shows its pages of agents
TRAINING, RESULT = "training", "result"  # roles of runs that are not trials
# Tags of the experiment. The first opens it on its runs, not on traces of language models.
EXPERIMENT_TAGS = {
    "mlflow.experimentKind": "custom_model_development",
    "mlflow.note.content": """Tag `kind` of a run: `trial` (nested in the run of its stage, tag \
`stage`), `model` (registered), or a stage. Tag `role`: `training` (has trials) or `result`.

Inputs of a trial are its data sets, train and dev; in the pipeline those of `params.yaml` or \
the study's data. `artifacts/corpus/summary.json` counts pairs and labels.""",
}
FAILURES = (MlflowException, SQLAlchemyError, CommandError, sqlite3.Error, OSError, ImportError)


class TrackingError(UserError):
    """The MLflow store cannot be used; raised before any trial runs."""


@contextmanager
def store_errors(state: Path) -> Iterator[None]:
    """Turn a failure of the store into a TrackingError for the user."""
    uri = uris.tracking_uri(state)
    try:
        yield
    except FAILURES as error:
        hint = uris.advice(uri, state, error)
        text = f"MLflow cannot use {first_line(uri)}; {hint} ({first_line(error)})"
        raise TrackingError(text) from error


class RunStore:
    """The project's runs, on the server of MLFLOW_TRACKING_URI or in the state folder.

    RUNNING runs of an earlier driver of the project, a tag, are set to KILLED, unless `reading`,
    as a driver may be at work. shared: whether other projects may log to the same store. commit:
    of the code of new runs; by default that of this project, for which git is asked once.
    """

    def __init__(self, state: Path, reading: bool = False, commit: str = "") -> None:
        path = state.resolve() / "mlflow.db"
        self.uri, own = uris.tracking_uri(state), f"{uris.SQLITE}{path}"
        self.shared, self.reading = self.uri != own, reading
        if commit:
            self.commit = commit
        with store_errors(state):
            self.project = project_id(state)
            if not self.shared and not path.exists():
                for partial in path.parent.glob(".mlflow.db.*"):
                    partial.unlink()
                with replacing(path) as new:  # a kill would leave MLflow's migration half-done
                    MlflowClient(uri := f"{uris.SQLITE}{new}", registry_uri=uri)
            uris.check_address(self.uri)
            # not that of MLFLOW_REGISTRY_URI, which another project may need
            self.client = MlflowClient(self.uri, registry_uri=self.uri)
            self.artifacts = uris.artifact_location(self.uri, state)
            if self.artifacts:
                (state / "mlartifacts").mkdir(exist_ok=True)
            self.experiment = self._get_experiment()
            if reading and not self.search("tags.kind = 'trial'", limit=1):
                # those of a moved project lie where they were
                former = self.client.get_experiment_by_name(experiment_name())
                self.experiment = str(former.experiment_id) if former else self.experiment
            self._check_server()
            for run in () if reading else self.find(RUNNING):
                self.client.set_terminated(run.info.run_id, "KILLED")

    def _get_experiment(self) -> str:
        name, experiment = find_experiment(self.client, self.artifacts)
        if experiment is None:
            location, tags = self.artifacts, EXPERIMENT_TAGS
            try:
                return str(self.client.create_experiment(name, location, tags))
            except MlflowException as error:  # another project on the server has just created it
                if error.error_code != "RESOURCE_ALREADY_EXISTS":
                    raise
                return self._get_experiment()
        key = experiment.experiment_id
        if experiment.lifecycle_stage != "active":
            command = f"{shlex.quote(sys.executable)} -m mlflow experiments restore"
            restore = f"{uris.VARIABLE}={uris.shown_uri(self.uri)} {command} --experiment-id {key}"
            raise TrackingError(f"MLflow's experiment {name} was deleted; restore it: {restore}")
        for tag in EXPERIMENT_TAGS.keys() - experiment.tags.keys():  # of an earlier version
            self.client.set_experiment_tag(key, tag, EXPERIMENT_TAGS[tag])
        return str(key)

    def _check_server(self) -> None:
        """Raise TrackingError for a server without logged models, which `export` needs."""
        try:
            if self.uri.startswith("http"):
                self.client.search_logged_models([self.experiment], max_results=1)
        except MlflowException as error:
            raise TrackingError(uris.outdated_server(self.uri, __version__, error)) from error

    def find(self, condition: str = "", **tags: str) -> list[entities.Run]:
        """Return the project's runs with these tags; when reading, also those of its original."""
        if self.shared or not self.reading:
            tags["project"] = self.project
        equal = [f"tags.`{name}` = '{tags[name]}'" for name in tags]
        return self.search(" AND ".join([*filter(None, [condition]), *equal]))

    def search(self, condition: str, limit: int = 50_000) -> list[entities.Run]:
        """Return the runs that match an MLflow filter, the earliest first."""
        order, experiments = ["attributes.start_time ASC"], [self.experiment]
        return [*self.client.search_runs(experiments, condition, max_results=limit, order_by=order)]

    def open(
        self, kind: str, group: str, tags: Mapping[str, str], name: str = "", role: str = RESULT
    ) -> entities.Run:
        """Get or create the run of (kind, group); delete duplicates. role: TRAINING or RESULT."""
        tags = {**tags, "kind": kind, "role": role, "group": group}
        runs = self.find(kind=kind, group=group)
        if not runs:
            return self.create(kind, name or f"{kind}-{group[:8]}", tags)
        kept, *duplicates = runs
        for duplicate in duplicates:
            self.client.delete_run(duplicate.info.run_id)
        self.write(kept.info.run_id, tags=tags)
        return kept

    @cached_property
    def commit(self) -> str:
        """See the class."""
        return commit()

    def create(
        self, stage: str, name: str, tags: Mapping[str, str], start: int | None = None
    ) -> entities.Run:
        """Create a run with the tags behind MLflow's columns Source, Version and User.

        start: in ms; None: now.
        """
        source = {"type": "LOCAL", "name": stage, "git.commit": self.commit}
        origin = {f"mlflow.source.{name}": value for name, value in source.items()}
        tags = {**tags, **origin, "mlflow.user": user(), "project": self.project}
        return self.client.create_run(self.experiment, start, tags, name)

    def write(
        self,
        run_id: str,
        metrics: Sequence[entities.Metric] = (),
        params: Params | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        """Log metrics, parameters and tags with one call."""
        param_list = [entities.Param(name, str(value)) for name, value in (params or {}).items()]
        tag_list = [entities.RunTag(name, value) for name, value in (tags or {}).items()]
        self.client.log_batch(run_id, metrics, param_list, tag_list, synchronous=True)

    def log_data(self, run_id: str, name: str, folder: Path, digest: str) -> None:
        """Log the train and dev sets in a folder as inputs of a run; can be repeated."""
        source = json.dumps({"uri": folder.as_uri()})
        inputs = [
            entities.DatasetInput(
                entities.Dataset(f"{name}-{split}", digest[:8], "local", source),
                [entities.InputTag("mlflow.data.context", split)],
            )
            for split in ("train", "dev")
        ]
        self.client.log_inputs(run_id, inputs)

    def new_model(self, name: str, run_id: str, tags: Mapping[str, str]) -> tuple[str, str]:
        """Create the only logged model of a run; return its id and the location of its files."""
        condition = f"source_run_id = '{run_id}'"
        for partial in self.client.search_logged_models([self.experiment], condition):
            self.client.delete_logged_model(partial.model_id)
        model = self.client.create_logged_model(self.experiment, name, run_id, tags=dict(tags))
        self.client.log_outputs(run_id, [entities.LoggedModelOutput(model.model_id, step=0)])
        return str(model.model_id), str(model.artifact_location)

    def download(self, source: str, folder: str) -> Path:
        """Copy the files of a model version into a folder."""
        from mlflow.artifacts import download_artifacts  # takes a second

        return Path(download_artifacts(source, dst_path=folder, tracking_uri=self.uri))


def write_pyfunc(path: Path, run_id: str, model_id: str, item: ExportedModel) -> None:
    """Write a candidate as a pyfunc model folder with the ids of its run and logged model."""
    import mlflow.pyfunc  # takes a second
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


def experiment_name() -> str:
    """Return the name of the experiment, unless the project was moved."""
    return os.environ.get("MLFLOW_EXPERIMENT_NAME") or EXPERIMENT


def find_experiment(
    client: MlflowClient, location: str | None
) -> tuple[str, entities.Experiment | None]:
    """Return the name of this project's experiment, and the experiment if it exists.

    MLflow's artifact locations are absolute and fixed. A moved or copied project therefore has
    its own experiment, and never writes into the original folder.
    """
    name = experiment_name()
    experiment = client.get_experiment_by_name(name)
    if experiment is None or location in (None, experiment.artifact_location):
        return name, experiment
    name = f"{name} in {location}"
    return name, client.get_experiment_by_name(name)


def flatten_metrics(values: Metrics, step: int = 0, prefix: str = "") -> list[entities.Metric]:
    """Flatten nested metrics into names such as `outer.inner`, without those that are None."""
    now = int(time.time() * 1000)
    metrics: list[entities.Metric] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            metrics += flatten_metrics(value, step, f"{prefix}{name}.")
        elif value is not None:
            metrics.append(entities.Metric(prefix + name, float(value), now, step))
    return metrics
