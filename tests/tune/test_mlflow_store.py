"""A store that is missing, corrupt or remote, or that fails during a sweep."""

import shutil
import sqlite3
import subprocess
import sys
import types
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.tune.tracking_samples import (
    children,
    end,
    parents,
    record,
    started,
    statuses,
    steps,
    train,
    trial,
)
from tune.tracking.mlflow_store import RunStore, TrackingError
from tune.tracking.results import log_evaluation

# isort: split
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

RESULTS = [(trial(key), record(key)) for key in "ab"]


def test_a_store_that_fails_during_a_sweep_loses_nothing(
    state: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is called once: each call may take as long as a connection timeout."""
    tracker = started(state)
    train(tracker, "a", last=1)
    original, calls = MlflowClient.log_batch, []

    def broken(self: MlflowClient, *args: Any, **kwargs: Any) -> None:
        calls.append(1)
        original(self, *args, **kwargs)  # written, but the answer is lost
        raise MlflowException("connection lost to http://me:secret@host/api")

    monkeypatch.setattr(MlflowClient, "log_batch", broken)
    with tracker.in_background():
        train(tracker, "a", first=2)
        end(tracker, "a")
        train(tracker, "b")
        end(tracker, "b")
    assert len(calls) == 1
    assert len(caplog.records) == 1
    assert "trials continue" in caplog.text
    assert "secret" not in caplog.text
    tracker.finish("FINISHED", {}, RESULTS)  # does not raise
    assert "and logged by the next stage that trains or reports, or act-nli command" in caplog.text
    monkeypatch.setattr(MlflowClient, "log_batch", original)
    log_evaluation("evaluate", "x", {}, {}, state)
    assert {run.info.status for run in parents(state)} == {"FINISHED"}
    assert statuses(state) == {"a": "FINISHED", "b": "FINISHED"}
    assert [steps(state, children(state)[key]) for key in "ab"] == [[1, 2, 3]] * 2
    assert not list((state / "unlogged").iterdir())


def test_a_relative_store_has_its_artifacts_in_the_state_folder(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(state / "mlflow.db", tmp_path / "runs.db")
    (tmp_path / "copy").mkdir()
    monkeypatch.chdir(tmp_path / "copy")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "sqlite:///runs.db")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "mine")
    (tmp_path / "report.md").write_text("# Report")
    log_evaluation("report", "x", {}, {}, state, tmp_path / "copy")
    experiment = MlflowClient(f"sqlite:///{tmp_path}/runs.db").get_experiment_by_name("mine")
    assert experiment.artifact_location == (state / "mlartifacts").as_uri()
    assert list((tmp_path / "copy").iterdir()) == []


@pytest.mark.parametrize(
    ("version", "hint"),
    [
        (
            "451aebb31d03",
            "an older MLflow wrote it; copy it, then run: {python} -m mlflow db upgrade ",
        ),
        ("fff", "a newer MLflow wrote it; install that, or name another file: export MLFLOW_TRA"),
    ],
)
def test_a_store_of_another_version_of_mlflow(version: str, hint: str, state: Path) -> None:
    path = state / "mlflow.db"
    with closing(sqlite3.connect(path)) as store, store:
        store.execute(f"UPDATE alembic_version SET version_num = '{version}'")
    with pytest.raises(TrackingError, match=hint.format(path=path, python=sys.executable)):
        started(state)


def test_the_registry_of_another_project_is_not_used(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_REGISTRY_URI", "databricks-uc")  # in a profile
    for folder in (state, tmp_path / "new"):
        started(folder).finish("FINISHED", {})
        assert RunStore(folder).client.search_registered_models() == []


def test_a_file_in_the_place_of_the_artifacts_ends_before_training(state: Path) -> None:
    (state / "mlartifacts").touch()
    path = state / "mlartifacts"
    with pytest.raises(TrackingError, match=f"need a folder; run: mv {path} {path}"):
        started(state)


def test_a_refused_password_of_a_database_is_reported_after_one_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MLflow itself would try for two minutes."""
    attempts: list[dict[str, Any]] = []
    driver = types.ModuleType("psycopg2")
    error = type("OperationalError", (Exception,), {})

    def connect(*_: Any, **arguments: Any) -> None:
        attempts.append(arguments)
        raise error('FATAL: password authentication failed for user "me"')

    vars(driver).update(connect=connect, Error=error, paramstyle="pyformat", __version__="2.9.9")
    vars(driver).update(extensions=driver, extras=driver)
    for name in ("psycopg2", "psycopg2.extensions", "psycopg2.extras"):
        monkeypatch.setitem(sys.modules, name, driver)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "postgresql+psycopg2://me:secret@127.0.0.1/runs")
    hint = "^MLflow cannot use postgresql.psycopg2://127.0.0.1/runs; correct user, password "
    with pytest.raises(TrackingError, match=hint):
        started(tmp_path / "state")
    assert [arguments["connect_timeout"] for arguments in attempts] == [10]


def test_a_corrupt_database_or_another_programs_is_not_changed(state: Path) -> None:
    with closing(sqlite3.connect(state / "other.db")) as other, other:
        other.execute("CREATE TABLE alembic_version (version_num)")
    no_database = b"not a database, but long enough to be read as one" * 9
    for content in (no_database, (state / "other.db").read_bytes()):
        (state / "mlflow.db").write_bytes(content)
        with pytest.raises(TrackingError, match=r"; (it is corrupt, or not|name another file)"):
            started(state)
        assert (state / "mlflow.db").read_bytes() == content


@pytest.mark.slow  # MLflow's command takes seconds to import
def test_a_deleted_experiment_has_the_command_to_restore_it(state: Path) -> None:
    started(state).finish("FINISHED", {})
    client = MlflowClient(f"sqlite:///{state / 'mlflow.db'}")
    (number,) = (e.experiment_id for e in client.search_experiments() if e.name == "act-nli")
    client.delete_experiment(number)
    with pytest.raises(TrackingError, match="act-nli was deleted; restore it: ") as raised:
        started(state)
    command = str(raised.value).partition("restore it: ")[2]
    subprocess.run(command, shell=True, check=True, cwd="/", capture_output=True)
    started(state).finish("FINISHED", {})
