"""The tracker against a real sqlite store."""

import gc
import shutil
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient, MlflowException

from tests.tune.tracking_samples import (
    PARAMS,
    children,
    parents,
    record,
    runs,
    started,
    statuses,
    steps,
    train,
)
from tune.results import log_evaluation


def test_nested_runs_with_params_and_a_series_per_metric(state: Path) -> None:
    tracker = started(state)
    train(tracker, "a")
    tracker.trial_finished("a")
    tracker.finish("FINISHED", {"best": {"dev_accuracy": 0.75}, "trials": 1, "absent": None})

    (parent,) = parents(state)
    assert parent.info.status == "FINISHED"
    assert parent.info.run_name == "sweep-01234567"
    assert parent.data.tags["git_commit"] == "c0ffee"
    assert parent.data.metrics == {"best.dev_accuracy": 0.75, "trials": 1}
    run = children(state)["a"]
    assert run.info.status == "FINISHED"
    assert run.info.run_name == "decomposable_attention-a"
    assert run.data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert run.data.params == {name: str(value) for name, value in PARAMS.items()}
    assert steps(state, run) == steps(state, run, "examples_per_second") == [1, 2, 3]
    assert run.data.metrics["train_loss"] == pytest.approx(1 / 3)
    assert "train_mean_steps" not in run.data.metrics
    assert not list((state / "drivers").rglob("*/*"))


def test_next_driver_continues_where_a_crash_stopped(state: Path) -> None:
    train(started(state), "a", last=2)
    train(started(state), "a", first=2)  # resumed from the checkpoint of epoch 1
    assert statuses(state) == {"a": "RUNNING"}
    shutil.rmtree(state / "drivers")  # not even the lock tells that the second one died
    third = started(state)
    assert statuses(state) == {"a": "KILLED"}
    train(third, "a", first=3)
    third.trial_finished("a")
    third.finish("FINISHED", {})
    assert statuses(state) == {"a": "FINISHED"}
    assert len(parents(state)) == 1
    assert steps(state, children(state)["a"]) == [1, 2, 3]


def test_a_finished_trial_that_is_run_again_keeps_one_series(state: Path) -> None:
    tracker = started(state)
    train(tracker, "a")
    tracker.trial_finished("a")
    train(tracker, "a")
    assert statuses(state) == {"a": "RUNNING"}
    tracker.trial_finished("a")
    assert statuses(state) == {"a": "FINISHED"}
    assert steps(state, children(state)["a"]) == [1, 2, 3]


def test_failed_trial_has_its_reason_until_it_is_run_again(state: Path) -> None:
    tracker = started(state)
    train(tracker, "a", last=1)
    tracker.trial_failed("a", "out of memory\nTraceback ...")
    assert statuses(state) == {"a": "FAILED"}
    assert children(state)["a"].data.tags["failure"] == "out of memory"
    tracker.finish("FAILED", {})
    assert parents(state)[0].info.status == "FAILED"
    again = started(state)
    train(again, "a", first=2)
    again.trial_finished("a")
    assert "failure" not in children(state)["a"].data.tags
    assert steps(state, children(state)["a"]) == [1, 2, 3]


def test_finish_ends_trials_still_running(state: Path) -> None:
    tracker = started(state)
    train(tracker, "a", last=1)
    tracker.finish("KILLED", {})
    assert statuses(state) == {"a": "KILLED"}
    assert parents(state)[0].info.status == "KILLED"


def test_reused_trial_is_written_once(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tracker = started(state)
    tracker.trial_reused(record("a"), PARAMS, "decomposable_attention-a")
    run = children(state)["a"]
    assert (run.info.status, run.data.tags["reused"]) == ("FINISHED", "true")
    assert steps(state, run) == [1, 2, 3]
    for later in (tracker, started(state)):
        monkeypatch.setattr(later._store, "client", None)  # any call would fail
        later.trial_reused(record("a"), PARAMS, "decomposable_attention-a")


def test_reuse_fills_in_what_a_killed_driver_left_out(state: Path) -> None:
    tracker = started(state)
    train(tracker, "a", first=3)  # epochs 1 and 2 were never seen here
    tracker.trial_finished("a")
    again = started(state)
    again.trial_reused(record("a"), PARAMS, "decomposable_attention-a")
    run = children(state)["a"]
    assert sorted(steps(state, run)) == [1, 2, 3]
    assert "reused" not in run.data.tags  # trained under this parent


def test_finished_with_its_record_is_complete(state: Path) -> None:
    tracker = started(state)
    train(tracker, "a", last=1)
    tracker.trial_finished("a", record("a", epochs=60))
    assert sorted(steps(state, children(state)["a"])) == list(range(1, 61))


def test_a_finished_trial_can_be_sorted_by_its_best_epoch(state: Path) -> None:
    tracker, done = started(state), record("a", epochs=3)
    better = replace(done.history[1], dev_accuracy=0.9)
    tracker.trial_started("a", PARAMS, "decomposable_attention-a")
    tracker.trial_finished("a", replace(done, history=(done.history[0], better, done.history[2])))
    tracker.finish("FINISHED", {})
    run = children(state)["a"]
    assert (run.data.metrics["best_dev_accuracy"], run.data.metrics["best_epoch"]) == (0.9, 2)
    assert run.data.metrics["best_dev_mean_steps"] == 3.5
    assert (run.data.tags["kind"], run.data.tags["stage"]) == ("trial", "sweep")


@pytest.mark.parametrize("kind", ["sweep", "nse", "one that nobody thought of"])
def test_whatever_trains_is_found_among_the_trainings(kind: str, state: Path) -> None:
    started(state, kind=kind).finish("FINISHED", {})
    (parent,) = parents(state)
    assert (parent.data.tags["kind"], parent.data.tags["role"]) == (kind, "training")


def test_doubles_are_deleted_and_the_earliest_is_kept(state: Path) -> None:
    first, second = started(state), started(state)
    train(first, "a")
    train(second, "a")
    second.trial_started("b", PARAMS, "b")
    oldest = min(runs(state, "tags.trial_key = 'a'"), key=lambda run: run.info.start_time)
    parent = parents(state)[0]
    client = MlflowClient(f"sqlite:///{state / 'mlflow.db'}")
    client.create_run(parent.info.experiment_id, tags={"kind": "sweep", "group": "0123456789"})
    last = started(state)
    assert [run.info.run_id for run in parents(state)] == [parent.info.run_id]
    assert children(state)["a"].info.run_id == oldest.info.run_id
    last.finish("FINISHED", {})
    assert statuses(state) == {"a": "KILLED", "b": "KILLED"}


def test_another_sweep_closes_what_a_dead_driver_left(state: Path) -> None:
    alive, dead = started(state, "alive"), started(state, "dead")
    train(alive, "a", last=1)
    train(dead, "b", last=1)
    del dead  # frees its lock, as the end of its process would
    gc.collect()
    log_evaluation("evaluate", "x", {}, {"accuracy": 0.5}, state)
    assert statuses(state) == {"a": "RUNNING", "b": "KILLED"}
    found = {run.data.tags["group"]: run.info.status for run in parents(state)}
    assert found == {"alive": "RUNNING", "dead": "KILLED", "x": "FINISHED"}


def test_the_background_holds_up_nobody_and_keeps_the_order(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracker, answers = started(state), threading.Event()
    write = tracker._store.write

    def slow(*args: Any, **kwargs: Any) -> None:
        assert answers.wait(30)
        write(*args, **kwargs)

    monkeypatch.setattr(tracker._store, "write", slow)
    with tracker.in_background():
        for key in "ab":
            train(tracker, key)
        tracker.trial_finished("a")
        tracker.trial_failed("b", "diverged")
        assert statuses(state).get("a", "RUNNING") == "RUNNING"
        answers.set()
    assert statuses(state) == {"a": "FINISHED", "b": "FAILED"}
    for run in children(state).values():
        assert steps(state, run) == [1, 2, 3]
        assert len(run.data.params) == len(PARAMS)


def test_a_store_that_is_away_is_tried_once_however_much_waits(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each try takes as long as a connection may take."""
    tracker, tries, answers = started(state), list[str](), threading.Event()

    def away(*_: object, **__: object) -> None:
        tries.append("one")
        assert answers.wait(30)
        raise MlflowException("away")

    monkeypatch.setattr(tracker._store, "write", away)
    with tracker.in_background():
        for key in "abcdefgh":
            train(tracker, key)
        answers.set()
    assert tries == ["one"]
    monkeypatch.undo()
    tracker.finish("FINISHED", {})
    assert len(statuses(state)) == 8


def test_the_background_is_written_when_a_run_is_interrupted(state: Path) -> None:
    tracker = started(state)
    with pytest.raises(KeyboardInterrupt), tracker.in_background():
        train(tracker, "a")
        raise KeyboardInterrupt
    assert steps(state, children(state)["a"]) == [1, 2, 3]
    tracker.finish("KILLED", {})
    assert statuses(state) == {"a": "KILLED"}


@pytest.mark.parametrize("later", [0, 1])
def test_an_error_of_ours_leaves_the_background(
    later: int, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracker = started(state)
    monkeypatch.setattr(tracker._store, "write", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError), tracker.in_background():
        tracker.trial_started("a", PARAMS, "a")
        if later:
            while not tracker._writing.done():  # type: ignore[union-attr]
                time.sleep(0.01)
            tracker.trial_started("b", PARAMS, "b")
            pytest.fail("the driver was not told")


def test_a_diverged_trial_fails_and_stays_so(state: Path) -> None:
    """Its record is reused by the next sweep, where it stands as failed again."""
    diverged = replace(record("a", epochs=2), diverged=True)
    for group in ("0123456789", "another group"):
        for _ in range(2):
            tracker = started(state, group)
            if group == "0123456789" and not children(state):
                train(tracker, "a", last=2)
                tracker.trial_finished("a", diverged)
            tracker.trial_reused(diverged, PARAMS, "a")
            tracker.trial_reused(record("b"), PARAMS, "b")
            tracker.finish("FINISHED", {})
    nested = [run for run in runs(state) if "mlflow.parentRunId" in run.data.tags]
    assert len(nested) == 4
    for run in nested:
        failed = run.data.tags["trial_key"] == "a"
        assert run.info.status == ("FAILED" if failed else "FINISHED")
        reason = "diverged in epoch 2: a loss was not finite" if failed else None
        assert run.data.tags.get("failure") == reason
        assert run.data.tags["epochs"] == ("2" if failed else "3")
