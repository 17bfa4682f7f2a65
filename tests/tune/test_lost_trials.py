"""Fusions that fail restart, are halved, and given up; nodes that fail cost no restart."""

import contextlib
import errno
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import ray
from ray.tune.search import Searcher

from actmodels.errors import SweepError
from actmodels.records import EpochRecord, TrialRecord
from tests.samples import MODELS, keyed, sample_trial
from tune.cluster import runner
from tune.cluster.callback import DriverCallback
from tune.cluster.node_check import StorageFullError, qualified_name
from tune.cluster.nodes import Nodes
from tune.cluster.runner import FusionQueue, SweepStopper, run_rounds
from tune.progress import Progress
from tune.running_sweep import RunningSweep
from tune.trials.execution import Execution
from tune.trials.fusion import fusion_point, point_keys
from tune.trials.grid import Trial
from tune.trials.store import TrialStore

RESTARTS = 2


@pytest.fixture
def trials() -> list[Trial]:
    return keyed([sample_trial(MODELS[0], seed=seed) for seed in (1, 2, 3)])


@pytest.fixture
def callback(trials: list[Trial], state: Path) -> Iterator[DriverCallback]:
    execution = Execution(state, state, state, max_failures=RESTARTS)
    sweep = RunningSweep("test", trials, execution, keep_weights=False)
    with contextlib.suppress(KeyboardInterrupt), sweep.opened():
        yield DriverCallback(sweep, Progress("test", 3, 9), Nodes(execution))


def ray_trial_of(trials: list[Trial], error: str = "", folder: Path = Path()) -> Any:
    """A fake of Ray's trial of a fusion, whose worker may have raised an error."""
    path = folder / "error.txt"
    if error:
        path.write_text(f"Failure # 1 (at noon)\nray::t()\n  File\n{error}\n")
    file = str(path) if error else None
    return SimpleNamespace(config=fusion_point(trials), error_file=file, trial_id="id")


def waiting(callback: DriverCallback) -> list[list[str]]:
    """Take the waiting fusions away."""
    fusions = [[trial.key for trial in fusion] for fusion in callback.sweep.waiting]
    callback.sweep.waiting = []
    return fusions


def test_a_failing_fusion_restarts_and_is_halved_until_the_failing_trial_is_alone(
    trials: list[Trial], callback: DriverCallback
) -> None:
    names = [trial.key for trial in trials]
    for fusion, halves in (([0, 1, 2], [[0, 1], [2]]), ([0, 1], [[0], [1]])):
        ray_trial = ray_trial_of([trials[n] for n in fusion])
        for _ in range(RESTARTS):
            callback.on_trial_error(1, [], ray_trial)
            assert waiting(callback) == [[names[n] for n in fusion]]
        callback.on_trial_error(1, [], ray_trial)
        assert waiting(callback) == [[names[n] for n in half] for half in halves]
    assert callback.sweep.errors == {}
    for _ in range(RESTARTS + 1):
        callback.on_trial_error(1, [], ray_trial_of(trials[:1]))
    trace = callback.sweep.trace(trials[0])
    why = f"its worker ended without a message (trace in {trace})"
    assert callback.sweep.errors == {names[0]: why}
    assert waiting(callback) == [names[:1]] * RESTARTS
    for name in names:
        callback.sweep.checkpoints.write(f"{name}.pt", b"")
    callback.sweep.ended.add(names[1])  # recorded
    callback.on_trial_error(1, [], ray_trial_of(trials))
    left = [path.stem for path in Path(callback.sweep.checkpoints.location).glob("*.pt")]
    assert sorted(left) == sorted([names[0], names[2]])  # the next run continues the given up one


def test_the_first_trial_that_is_given_up_ends_the_sweep_if_it_must_fail_fast(
    trials: list[Trial], callback: DriverCallback
) -> None:
    sweep = callback.sweep
    sweep.execution = replace(sweep.execution, fail_fast=True, max_failures=0)

    def tuner(callback: DriverCallback, stopper: SweepStopper) -> Any:
        def fit() -> None:
            assert not stopper.stop_all()
            callback.on_trial_error(1, [], ray_trial_of(trials[:1]))
            assert stopper.stop_all()

        return SimpleNamespace(fit=fit)

    sweep.waiting = [[trial] for trial in trials]
    with pytest.raises(SweepError) as raised:
        run_rounds(callback, tuner)
    why = f"its worker ended without a message (trace in {sweep.trace(trials[0])})"
    assert str(raised.value) == (
        f"test: cluster.fail_fast ended it, as {trials[0].name} failed: {why}; nothing was "
        "written; run the same command again to go on"
    )


def test_trials_of_a_failing_fusion_that_have_ended_do_not_restart(
    trials: list[Trial], callback: DriverCallback
) -> None:
    callback.sweep.ended.add(trials[2].key)
    callback.on_trial_error(1, [], ray_trial_of([trials[0], trials[2]]))
    assert waiting(callback) == [[trials[0].key]]


def finished(trial: Trial) -> dict[str, Any]:
    """A worker's report of a trial's last epoch."""
    epoch = EpochRecord(1, 1.0, 0.4, None, None, None, 1.1, 0.5, None, None, None, 2.0, 9.0)
    config = trial.config.as_dict()
    record = TrialRecord(trial.key, config, 3, (epoch,), trial.origin, machine={})
    where = {"hostname": "host", "node_ip": "10.0.0.1", "system_metrics": {}}
    return {"trials": {trial.key: record}, "finished": {trial.key}, "notes": [], **where}


def test_a_finished_trial_whose_weights_cannot_be_read_starts_over(
    trials: list[Trial], callback: DriverCallback, state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sweep continues; after repeated losses the trial is given up."""
    trial, ray_trial, sweep = trials[0], ray_trial_of(trials[:1]), callback.sweep
    sweep.keep_weights = True
    path = state / "checkpoints" / f"{trial.key}.pt"
    for number in range(RESTARTS + 1):
        path.write_bytes(b"no checkpoint")
        callback.on_trial_result(1, [], ray_trial, finished(trial))
        name = f"{path.name}.corrupt{number or ''}"
        assert f"quarantined as {name}, the trial starts over" in capsys.readouterr().err
        callback.on_trial_complete(1, [], ray_trial)
        assert waiting(callback) == ([[trial.key]] if number < RESTARTS else [])
    why = "its checkpoint could not be read repeatedly; see the log above"
    assert sweep.errors == {trial.key: why}
    assert sweep.store.load(trial.key, needs_weights=False) is None


def test_the_queue_gives_a_failed_fusion_again_and_ends_after_it(
    trials: list[Trial], callback: DriverCallback
) -> None:
    sweep, queue = callback.sweep, FusionQueue(callback)
    sweep.waiting = [[trial] for trial in trials]
    for number, trial in enumerate(trials):
        assert point_keys(queue.suggest(str(number))) == [trial.key]  # type: ignore[arg-type]
    queue.on_trial_complete("0", error=True)
    assert queue.suggest("4") is None
    callback.on_trial_error(1, [], ray_trial_of(trials[:1]))
    assert point_keys(queue.suggest("5")) == [trials[0].key]  # type: ignore[arg-type]
    for name in ("1", "2", "5"):
        assert queue.suggest("6") is None
        queue.on_trial_complete(name)
    assert queue.suggest("6") == Searcher.FINISHED


def test_the_queue_is_limited(
    trials: list[Trial], callback: DriverCallback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray Tune looks at each waiting trial in each of its steps."""
    monkeypatch.setattr(runner, "PENDING", 1)
    callback.sweep.waiting, callback.nodes.capacity = [[trial] for trial in trials], 1
    queue = FusionQueue(callback)
    assert [queue.suggest(name) is None for name in "123"] == [False, False, True]
    queue.on_trial_complete("1")
    assert queue.suggest("4") is not None


def test_fusions_are_split_when_nodes_join(trials: list[Trial], callback: DriverCallback) -> None:
    """One of three trials has ended; the two others continue as single trials."""
    seen: list[list[list[str]]] = []

    def tuner(callback: DriverCallback, stopper: SweepStopper) -> Any:
        def fit() -> None:
            seen.append([[trial.key for trial in f] for f in callback.sweep.waiting])
            while stopper.queue.suggest(str(len(stopper.queue.running))):
                pass
            assert not stopper.stop_all()
            if len(seen) == 1:
                callback.sweep.ended.add(trials[0].key)
            callback.nodes.capacity += 2
            assert stopper.stop_all() is (len(seen) == 1)

        return SimpleNamespace(fit=fit)

    callback.nodes.capacity = 1
    callback.sweep.waiting = [trials]
    run_rounds(callback, tuner)
    names = [trial.key for trial in trials]
    assert seen == [[names], [names[1:2], names[2:]]]


def test_trials_that_end_while_nodes_join_have_no_new_round(
    trials: list[Trial], callback: DriverCallback
) -> None:
    def tuner(callback: DriverCallback, stopper: SweepStopper) -> Any:
        def fit() -> None:
            assert stopper.queue.suggest("1")
            callback.nodes.capacity += 2
            assert stopper.stop_all()
            callback.sweep.ended.update(trial.key for trial in trials)

        return SimpleNamespace(fit=fit)

    callback.nodes.capacity, callback.sweep.waiting = 1, [trials]
    run_rounds(callback, tuner)
    assert callback.sweep.waiting == []


def test_a_full_storage_ends_the_sweep(
    trials: list[Trial], callback: DriverCallback, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = callback.sweep
    place = sweep.checkpoints.location
    error = f"{qualified_name(StorageFullError)}: {place} is full"

    def tuner(callback: DriverCallback, stopper: SweepStopper) -> Any:
        def fit() -> None:
            callback.on_trial_error(1, [], ray_trial_of(trials, error, state))
            assert stopper.stop_all()

        return SimpleNamespace(fit=fit)

    sweep.waiting = [trials]
    with pytest.raises(SweepError) as raised:
        run_rounds(callback, tuner)
    assert str(raised.value) == (
        f"{place} is full; make room there; nothing is lost: run the same command again to resume"
    )

    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(TrialStore, "save", no_room)
    callback.on_trial_result(1, [], ray_trial_of(trials[:1]), finished(trials[0]))
    assert sweep.fatal_error.startswith(f"{sweep.store.storage.location} is full; ")
    assert not sweep.ended


@pytest.mark.parametrize("alive", [True, False])
def test_a_lost_node_costs_no_restart(
    alive: bool,
    trials: list[Trial],
    callback: DriverCallback,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as raylet:
        port = raylet.getsockname()[1]
    where = {"NodeManagerAddress": "127.0.0.1", "NodeManagerPort": port}
    monkeypatch.setattr(ray, "nodes", lambda: [{"NodeID": "a", "Alive": True, **where}])
    callback.nodes.external = True
    callback.addresses["id"] = "127.0.0.1"
    with socket.create_server(("127.0.0.1", port)) if alive else contextlib.nullcontext():
        callback.on_trial_error(1, [], ray_trial_of(trials))
    assert callback.sweep.failures.total() == (3 if alive else 0)
    assert waiting(callback) == [[trial.key for trial in trials]]
    gone = "node 127.0.0.1 does not answer any more; it restarts"
    assert (gone in capsys.readouterr().err) is not alive


def test_an_unreachable_worker_costs_no_restart(
    trials: list[Trial], callback: DriverCallback, state: Path
) -> None:
    ray_trial = ray_trial_of(trials, "The actor 0ca2cf is unavailable: RpcError", state)
    callback.on_trial_error(1, [], ray_trial)
    assert waiting(callback) == [[trial.key for trial in trials]]
    assert callback.sweep.failures.total() == 0
