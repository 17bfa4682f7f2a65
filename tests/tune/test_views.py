"""Saved views of MLflow's page, in a real store."""

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

from tune import mlflow_store
from tune.mlflow_store import TRAINING, RunStore
from tune.results import log_evaluation
from tune.views import ABOUT, NOTE, TAG, VIEWS, save_views, view_links


def tags(store: RunStore) -> dict[str, str]:
    return dict(store.client.get_experiment(store.experiment).tags)


def test_views_are_stored_once_and_changes_by_hand_stay(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    save_views(store)
    first = tags(store)
    assert first[NOTE] == ABOUT
    for view in VIEWS:
        entry = json.loads(first[f"{TAG}{view.key}"])
        assert entry["name"] == view.name
        method, _, packed = entry["state"].partition(";")
        assert method == "deflate"
        assert json.loads(zlib.decompress(base64.b64decode(packed))) == view.state()
    store.client.set_experiment_tag(store.experiment, f"{TAG}trials", "mine")
    save_views(store)
    assert tags(store) == {**first, f"{TAG}trials": "mine"}
    store.release()


def test_a_store_that_refuses_them_is_used_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Refusing(MlflowClient):
        def set_experiment_tag(self, experiment_id: str, key: str, value: Any) -> None:
            raise MlflowException("value is longer than 500 characters\nand so on")

    monkeypatch.setattr(mlflow_store, "MlflowClient", Refusing)
    log_evaluation("evaluate", "a", {}, {"accuracy": 0.5}, tmp_path)
    assert [record.getMessage() for record in caplog.records if record.name == "tune.views"] == [
        "MLflow's store has no saved views, as it refused one: value is longer than 500 characters"
    ]
    store = RunStore(tmp_path)
    assert [run.data.metrics for run in store.search("")] == [{"accuracy": 0.5}]
    assert not any(name.startswith(TAG) for name in tags(store))
    store.release()


def test_each_view_has_a_search_that_mlflow_understands(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    store.open("sweep", "g", {}, role=TRAINING)
    found = [len(store.search(view.condition)) for view in VIEWS]
    assert found == [0, 0, 0, 0, 1, 0]
    store.release()


def test_trials_on_different_tasks_are_in_different_views(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    for stage in ("sweep", "retrain", "graves", "nse"):
        tags = {"kind": "trial", "stage": stage}
        store.client.create_run(store.experiment, tags=tags)
    found = {
        view.key: sorted(run.data.tags["stage"] for run in store.search(view.condition))
        for view in VIEWS
    }
    assert found["trials"] == ["retrain", "sweep"]
    assert (found["sequences"], found["readers"]) == (["graves"], ["nse"])
    store.release()


def test_links_name_the_view() -> None:
    assert view_links("7")["Trials, best on dev first"] == (
        "/#/experiments/7/runs?viewStateShareKey=trials"
    )
