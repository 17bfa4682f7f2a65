"""The tracker against a real sqlite store, also killed at every write."""

import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

from pipeline.parameters.schema import TAG
from tests.tune.tracking_samples import (
    INPUTS,
    PARAMS,
    WRITES,
    Killed,
    children,
    end,
    inputs,
    parents,
    record,
    runs,
    started,
    statuses,
    steps,
    train,
    trial,
)
from tune.tracking.mlflow_store import EXPERIMENT_TAGS
from tune.tracking.results import log_evaluation
from tune.tracking.tracker import Tracker, TrialState, final_state
from tune.trials.execution import Description


def test_nested_runs_with_params_and_a_series_per_metric(state: Path) -> None:
    tracker, done = started(state), record("a")
    train(tracker, "a", last=2)
    tracker.update(trial("a"), TrialState(history=done.history, system_metrics={"system/cpu": 9}))
    better = replace(done.history[1], dev_accuracy=0.9)
    history = (done.history[0], better, done.history[2])
    tracker.update(trial("a"), final_state(replace(done, history=history, machine={"gpu": "none"})))
    tracker.finish("FINISHED", {"best": {"dev_accuracy": 0.75}, "trials": 1, "absent": None})

    (parent,) = parents(state)
    assert (parent.info.status, parent.info.run_name) == ("FINISHED", "sweep-01234567")
    assert (parent.data.tags["git_commit"], parent.data.tags["role"]) == ("c0ffee", "training")
    assert parent.data.metrics == {"best.dev_accuracy": 0.75, "trials": 1}
    run = children(state)["a"]
    assert (run.info.status, run.info.run_name) == ("FINISHED", "a-decomposable_attention")
    assert run.data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert (run.data.tags["kind"], run.data.tags["stage"]) == ("trial", "sweep")
    assert (run.data.tags["gpu"], run.data.tags["epochs"]) == ("none", "3")
    assert run.data.params == {name: str(value) for name, value in PARAMS.items()}
    assert inputs(run) == INPUTS
    assert steps(state, run) == steps(state, run, "examples_per_second") == [1, 2, 3]
    assert steps(state, run, "system/cpu") == [3]
    assert run.data.metrics["train_loss"] == pytest.approx(1 / 3)
    assert "train_mean_steps" not in run.data.metrics
    assert (run.data.metrics["best_dev_accuracy"], run.data.metrics["best_epoch"]) == (0.9, 2)
    assert run.data.metrics["best_dev_mean_steps"] == 3.5


def test_a_failed_trial_has_its_reason_until_it_reruns(state: Path) -> None:
    tracker, reason = started(state), "out of memory\nTraceback ..."
    train(tracker, "a", last=1)
    tracker.update(trial("a"), final_state(reason))
    tracker.finish("FAILED", {}, [(trial("a"), reason), (trial("b"), "it never began")])
    failures = {key: run.data.tags["failure"] for key, run in children(state).items()}
    assert failures == {"a": "out of memory", "b": "it never began"}
    assert statuses(state) == {"a": "FAILED", "b": "FAILED"}
    assert parents(state)[0].info.status == "FAILED"
    again = started(state)
    train(again, "a", first=2)
    end(again, "a")
    assert "failure" not in children(state)["a"].data.tags
    assert steps(state, children(state)["a"]) == [1, 2, 3]


def test_finish_completes_missing_entries_only(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracker = started(state)
    train(tracker, "half", last=1)
    train(tracker, "live")
    end(tracker, "live")
    train(tracker, "not ended")
    results = [(trial(key), record(key, 60)) for key in ("half", "never seen")]
    results.append((trial("live"), record("live")))
    tracker.finish("FINISHED", {}, results)
    assert statuses(state) == {
        **dict.fromkeys(("half", "live", "never seen"), "FINISHED"),
        "not ended": "KILLED",
    }
    for key in ("half", "never seen"):
        run = children(state)[key]
        assert steps(state, run) == list(range(1, 61))
        assert (len(run.data.params), inputs(run)) == (len(PARAMS), INPUTS)
    again = started(state)
    for name in ("_write", "_list_runs"):  # thousands of runs take MLflow seconds to list
        monkeypatch.setattr(again, name, None)  # a call would fail
    again.finish("FINISHED", {}, results)


def test_the_experiment_opens_on_its_runs(state: Path) -> None:
    """Also one that an earlier version created."""
    client = MlflowClient(f"sqlite:///{state / 'mlflow.db'}")
    client.create_experiment("act-nli", artifact_location=(state / "mlartifacts").as_uri())
    for _ in range(2):
        started(state)
        tags = client.get_experiment_by_name("act-nli").tags
        assert EXPERIMENT_TAGS.items() <= tags.items()


def test_duplicates_are_deleted_and_the_earliest_is_kept(state: Path) -> None:
    tracker = started(state)
    train(tracker, "a")
    kept, parent = children(state)["a"], parents(state)[0]
    client = MlflowClient(f"sqlite:///{state / 'mlflow.db'}")
    for tags in (kept.data.tags, parent.data.tags):
        client.create_run(parent.info.experiment_id, tags=tags)
    last = started(state)
    assert [run.info.run_id for run in parents(state)] == [parent.info.run_id]
    assert children(state)["a"].info.run_id == kept.info.run_id
    last.finish("FINISHED", {})
    assert statuses(state) == {"a": "KILLED"}


def test_the_next_driver_ends_the_runs_of_a_killed_one(state: Path) -> None:
    train(started(state, "dead"), "a", last=1)
    client, experiment = MlflowClient(f"sqlite:///{state / 'mlflow.db'}"), parents(state)[0].info
    tags = {"group": "elsewhere", "project": "another"}
    client.create_run(experiment.experiment_id, tags=tags)
    log_evaluation("evaluate", "x", {}, {"accuracy": 0.5}, state)
    assert statuses(state) == {"a": "KILLED"}
    by_group = {run.data.tags["group"]: run.info.status for run in parents(state)}
    assert by_group == {"dead": "KILLED", "elsewhere": "RUNNING", "x": "FINISHED"}


def test_background_writes_do_not_block_and_pending_states_are_one_write(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the sweep is interrupted. A short trial is four calls to MLflow."""
    tracker, answers, calls = started(state), threading.Event(), list[str]()
    for name in WRITES:

        def slow(*args: Any, call: Callable[..., Any], name: str, **kwargs: Any) -> Any:
            calls.append(name)
            assert answers.wait(30)
            return call(*args, **kwargs)

        client = tracker._store.client
        monkeypatch.setattr(client, name, partial(slow, call=getattr(client, name), name=name))
    with pytest.raises(KeyboardInterrupt), tracker.in_background():
        train(tracker, "a")
        end(tracker, "a")
        ended = time.time() * 1000
        assert statuses(state).get("a", "RUNNING") == "RUNNING"
        answers.set()
        raise KeyboardInterrupt
    info = children(state)["a"].info
    assert info.start_time <= info.end_time <= ended
    assert calls == ["create_run", "log_inputs", "log_batch", "set_terminated"]
    assert statuses(state) == {"a": "FINISHED"}
    assert steps(state, children(state)["a"]) == [1, 2, 3]


def test_a_diverged_trial_stays_failed(state: Path) -> None:
    """The next sweep reuses its record and its run, which stays FAILED and names both sweeps."""
    diverged = replace(record("a", epochs=2), diverged=True)
    for group in ("0123456789", "another group"):
        for _ in range(2):
            tracker = started(state, group)
            results = [(trial("a"), diverged), (trial("b"), record("b"))]
            tracker.finish("FINISHED", {}, results)
    nested = [run for run in runs(state) if "mlflow.parentRunId" in run.data.tags]
    assert len(nested) == 2
    for run in nested:
        assert run.data.tags["sweeps"] == "sweep-01234567, sweep-another "
        failed = run.data.tags["trial_key"] == "a"
        assert run.info.status == ("FAILED" if failed else "FINISHED")
        reason = "diverged in epoch 2: a loss was not finite" if failed else None
        assert run.data.tags.get("failure") == reason
        assert run.data.tags["epochs"] == ("2" if failed else "3")


def test_name_notes_and_tags_of_a_sweep(state: Path) -> None:
    """They can change, and a note that was edited on MLflow's page stays above the table."""
    results = [(trial(key), record(key, epochs)) for key, epochs in (("a", 2), ("b", 3))]
    about = Description("first look", "Before the grid.", {"owner": "me"})
    for each in (about, replace(about, name="second look")):
        tracker = Tracker("sweep", "0123456789", {}, state, about=each)
        tracker.finish("FINISHED", {}, results)
        client = MlflowClient(f"sqlite:///{state / 'mlflow.db'}")
        (parent,) = parents(state)
        lines = parent.data.tags["mlflow.note.content"].splitlines()
        assert lines[0] == "Before the grid."
        assert f"2 trials: `tags.sweeps LIKE '%{each.name}-01234567%'`" in lines
        key, run = "a", children(state)["a"]
        name = trial(key).name
        page = f"#/experiments/1/runs/{run.info.run_id}?workflowType=machine_learning"
        assert f"| [{name}]({page}) | dev 60.0 % | 2 |  |" in lines
        assert parent.info.run_name == f"{each.name}-01234567"
    assert run.data.tags["owner"] == "me"
    own = {name for each in runs(state) for name in each.data.tags if "mlflow." not in name}
    # a tag of one of these names would be overwritten
    assert [name for name in own if re.fullmatch(TAG, name)] == ["owner"]
    assert len({run.data.tags["configuration"] for run in children(state).values()}) == 1
    client.set_tag(parent.info.run_id, "mlflow.note.content", "Edited.\n\n### Best trials\n")
    Tracker("sweep", "another", {}, state).finish("FINISHED", {}, results)
    Tracker("sweep", "0123456789", {}, state, about=about).finish("FINISHED", {}, results)
    edited = client.get_run(parent.info.run_id).data.tags["mlflow.note.content"]
    assert edited.startswith("Edited.\n\n### Best trials\n") and "Before" not in edited
    (other,) = [run for run in parents(state) if run.data.tags["group"] == "another"]
    assert other.data.tags["mlflow.note.content"].count("of an earlier sweep") == 2


def test_what_was_deleted_or_moved_in_mlflow_is_restored(state: Path) -> None:
    results = [(trial(key), record(key)) for key in "abcd"]
    started(state).finish("FINISHED", {}, results)
    client = MlflowClient(f"sqlite:///{state / 'mlflow.db'}")
    nested, (deleted,) = children(state), parents(state)
    client.delete_run(deleted.info.run_id)
    client.delete_run(nested["a"].info.run_id)
    client.set_tag(nested["b"].info.run_id, "mlflow.parentRunId", nested["c"].info.run_id)
    with closing(sqlite3.connect(state / "mlflow.db")) as store, store:
        store.execute(
            "DELETE FROM metrics WHERE step = 2 AND run_uuid = ?", (nested["d"].info.run_id,)
        )
    started(state).finish("FINISHED", {}, results)
    (parent,), again = parents(state), children(state)
    assert {run.data.tags["mlflow.parentRunId"] for run in again.values()} == {parent.info.run_id}
    assert statuses(state) == dict.fromkeys("abcd", "FINISHED")
    assert [sorted(steps(state, run)) for run in again.values()] == [[1, 2, 3]] * 4


def whole_sweep(state: Path) -> None:
    """One trial is reused, one is trained, one fails."""
    tracker = started(state)
    for key in "bc":
        train(tracker, key, last=2)
    end(tracker, "b", epochs=2)
    results = [(trial(key), record(key, epochs=2)) for key in "ab"]
    tracker.finish("FINISHED", {"trials": 3}, [*results, (trial("c"), "out of memory")])


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", pytest.param("after", marks=pytest.mark.smoke)])
def test_a_crash_at_any_write_is_repaired_by_the_next_sweep(
    empty_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    countdown = [0]

    def cut(name: str) -> Callable[..., Any]:
        original = getattr(MlflowClient, name)

        def call(self: MlflowClient, *args: Any, **kwargs: Any) -> Any:
            countdown[0] -= 1
            if countdown[0] == 0 and moment == "before":
                raise Killed
            result = original(self, *args, **kwargs)
            if countdown[0] == 0:
                raise Killed
            return result

        return call

    for name in WRITES:
        monkeypatch.setattr(MlflowClient, name, cut(name))
    crashes = 0
    while True:
        folder = tmp_path / str(crashes)
        folder.mkdir()
        shutil.copy(empty_database, folder / "mlflow.db")
        countdown[0] = crashes + 1
        try:
            whole_sweep(folder)
            break
        except Killed:
            crashes += 1
        countdown[0] = 0
        whole_sweep(folder)
        assert [run.info.status for run in parents(folder)] == ["FINISHED"], crashes
        assert statuses(folder) == {"a": "FINISHED", "b": "FINISHED", "c": "FAILED"}, crashes
        for run in children(folder).values():
            assert steps(folder, run) == [1, 2], crashes
            assert len(run.data.params) == len(PARAMS), crashes
            assert inputs(run) == INPUTS, crashes
    assert crashes >= 21
