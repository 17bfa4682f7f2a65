"""Shared views of MLflow's page, in a real store."""

import json
import shutil
import urllib.parse
from pathlib import Path
from typing import Any

import pytest

from tune.tracking.mlflow_store import TRAINING, RunStore
from tune.tracking.mlflow_views import TAG, links


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with a trial of a study, and three of a sweep that differ in three settings."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    state = tmp_path / "a" / "state"
    store = RunStore(state)
    for stage, width, weight in (
        ("sweep", 8, 1),
        ("sweep", 8, 2),
        ("sweep", 16, 1),
        ("cloze", 8, 1),
    ):
        run = store.create(stage, "name", {"kind": "trial", "stage": stage})
        params = {"dropout": 0.1, "width": width, "model": f"m{width}", "weight": weight}
        store.write(run.info.run_id, params=params)
    store.open("sweep", "g", {}, role=TRAINING)
    return state


def view(store: RunStore, link: str) -> dict[str, Any]:
    """Read the view that MLflow's page would read for a link."""
    place, _, query = urllib.parse.urlsplit(link).fragment.partition("?")
    assert place == f"/experiments/{store.experiment}/runs"
    (key,) = urllib.parse.parse_qs(query)["viewStateShareKey"]
    tag = store.client.get_experiment(store.experiment).tags[TAG + key]
    assert len(tag) < 5000  # MLflow's limit
    state: dict[str, Any] = json.loads(tag)
    return state


def test_links_open_the_trials_with_the_settings_that_differ(state: Path) -> None:
    store, found = RunStore(state), links(state, "http://host:5000")
    views = {name: view(store, link) for name, link in found.items()}
    counts = {name: len(store.search(v["searchFilter"])) for name, v in views.items()}
    trials = {"trials of sweep": 3, "compare sweep": 3, "trials of cloze": 1, "compare cloze": 1}
    assert counts == trials | {"stages": 1, "results": 0}
    sweep = views["trials of sweep"]
    settings = [c for c in sweep["selectedColumns"] if c.startswith("params")]
    shown = ["model", "weight", "width"]  # that of a grid first; none that all trials share
    assert settings == [f"params.`{name}`" for name in shown]
    assert sweep["compareRunCharts"][0]["selectedParams"] == shown
    assert "compareRunsMode=CHART" in found["compare sweep"]


def test_the_seeds_of_a_configuration_are_a_group(state: Path) -> None:
    assert "seeds of sweep" not in links(state, "")  # no configuration has two
    store = RunStore(state)
    for run, name in zip(store.find(stage="sweep"), ("one", "one", "other"), strict=False):
        store.write(run.info.run_id, tags={"configuration": name})
    found = links(state, "")
    seeds = view(store, found["seeds of sweep"])
    assert seeds["groupBy"]["groupByKeys"] == [{"mode": "tag", "groupByData": "configuration"}]
    assert [chart["type"] for chart in seeds["compareRunCharts"]] == ["BAR", "LINE"]
    assert "compareRunsMode=CHART" in found["seeds of sweep"] and "seeds of cloze" not in found


@pytest.mark.parametrize("operation", [shutil.move, shutil.copytree])
def test_a_moved_or_copied_project_links_to_its_runs(state: Path, operation: Any) -> None:
    other = state.parents[1] / "b" / "state"
    other.parent.mkdir()
    operation(state, other)
    found = links(other, "http://host:5000")
    assert "trials of sweep" in found


def test_a_running_sweep_stays_so(state: Path) -> None:
    links(state, "")
    assert {run.info.status for run in RunStore(state, reading=True).find()} == {"RUNNING"}


def test_source_version_and_user_are_filled(state: Path) -> None:
    tags = RunStore(state).find(kind="trial")[0].data.tags
    assert tags["mlflow.source.name"] == "sweep"
    assert len(tags["mlflow.source.git.commit"]) >= len("unknown")
    assert tags["mlflow.user"]
