"""The tracker when several projects share a store, and when a project moves."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

from tests.tune.tracking_samples import parents, record, runs, started, steps, train, trial
from tune.tracking.tracking_uri import project_id


def test_two_projects_on_one_server_have_their_own_runs(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if both train the same grid at the same time."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{state / 'mlflow.db'}")
    # as on a server
    monkeypatch.setattr("tune.tracking.tracking_uri.artifact_location", lambda *_: None)
    first = started(tmp_path / "first/state")
    train(first, "a", last=1)
    second = started(tmp_path / "second/state")
    train(second, "a", last=2)
    train(first, "a", first=2)
    for tracker in (first, second):
        tracker.finish("FINISHED", {}, [(trial("a"), record("a"))])
    assert [run.info.status for run in parents(state)] == ["FINISHED"] * 2
    nested = [run for run in runs(state) if "mlflow.parentRunId" in run.data.tags]
    assert [(run.info.status, steps(state, run)) for run in nested] == [("FINISHED", [1, 2, 3])] * 2
    assert len({run.data.tags["mlflow.parentRunId"] for run in nested}) == 2


def test_two_projects_create_the_experiment_at_the_same_time(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = MlflowClient.create_experiment

    def late(*arguments: Any, **more: Any) -> str:
        create(*arguments, **more)
        return create(*arguments, **more)

    monkeypatch.setattr(MlflowClient, "create_experiment", late)
    started(state).finish("FINISHED", {})
    assert [run.info.status for run in parents(state)] == ["FINISHED"]


def test_a_moved_project_keeps_its_id_and_a_copy_has_another(tmp_path: Path) -> None:
    first = project_id(tmp_path / "state")
    moved = (tmp_path / "state").rename(tmp_path / "moved")
    assert project_id(moved) == first
    copy = shutil.copytree(moved, tmp_path / "copy")
    assert project_id(copy) == project_id(copy) != first
    (moved / "project.json").write_text("not JSON")
    assert project_id(moved) == project_id(moved) != first
