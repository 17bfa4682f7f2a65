"""What a command logs of earlier runs: MLflow was away, or the driver was killed."""

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

import pipeline.__main__ as command_line
from actmodels.errors import UserError
from pipeline.ui import update_store
from tests.tune.conftest import empty_database, state
from tests.tune.tracking_samples import Killed, parents, record, started, statuses, train, trial

# isort: split
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

from tune.tracking.results import log_evaluation

__all__ = ["empty_database", "state"]  # fixtures


@pytest.fixture(params=["summary", "sweep status", "ui"])
def command(
    request: pytest.FixtureRequest, state: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], object]:
    """A command in a project without artifacts, which may fail after that."""
    monkeypatch.setattr(command_line, "ROOT", state.parent)
    monkeypatch.chdir(state.parent)
    monkeypatch.setattr(sys, "argv", ["act-nli", *request.param.split()])

    def run() -> None:
        with suppress(UserError):
            command_line.main()

    return (lambda: update_store(state)) if request.param == "ui" else run


def test_runs_of_a_killed_driver_are_ended_and_what_a_server_missed_is_logged(
    command: Callable[[], object], state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise MlflowException("connection refused")

    train(tracker := started(state), "a", last=1)
    with FileLock(state / "run.lock"):  # the driver lives
        command()
        assert (statuses(state), parents(state)[0].info.status) == ({"a": "RUNNING"}, "RUNNING")
    with monkeypatch.context() as patch:
        patch.setattr(MlflowClient, "log_batch", away)
        patch.setattr(MlflowClient, "set_terminated", away)
        tracker.finish("FINISHED", {}, [(trial("a"), record("a"))])
        command()
        assert statuses(state) == {"a": "RUNNING"}
    command()
    assert (statuses(state), parents(state)[0].info.status) == ({"a": "FINISHED"}, "FINISHED")
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(MlflowClient, "set_terminated", lambda *_: exec("raise Killed", globals()))
        log_evaluation("evaluate", "x", {}, {}, state)
    command()
    assert {run.info.status for run in parents(state)} == {"FINISHED", "KILLED"}
    assert not list((state / "unlogged").iterdir())
