"""Trials that Ray gives up too early are requeued; those that fail too often are not."""

import contextlib
import errno
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import ray

from actmodels.errors import SweepError
from actmodels.records import EpochRecord
from tests.samples import MODELS, keyed, sample_trial
from tune.callback import DriverCallback
from tune.execution import Execution
from tune.fusion import Fusion
from tune.grid import Trial
from tune.node_check import StorageFullError, qualified_name
from tune.nodes import Nodes
from tune.points import fusion_point
from tune.progress import Progress
from tune.runner import SweepStopper, fit
from tune.storage import storage
from tune.store import TrialStore
from tune.trainable import TrialReport

RESTARTS = 2


@pytest.fixture
def trials() -> list[Trial]:
    configs = [sample_trial(MODELS[0], seed=seed) for seed in (1, 2, 3)]
    return keyed(configs)


@pytest.fixture
def callback(trials: list[Trial], tmp_path: Path) -> DriverCallback:
    return DriverCallback(
        {trial.key: trial for trial in trials},
        store=TrialStore(storage(tmp_path / "trials")),
        tracker=SimpleNamespace(update=lambda *_: None),  # type: ignore[arg-type]
        progress=Progress("test", 3, 9),
        checkpoints=storage(tmp_path),
        traces=tmp_path / "failures",
        keep_weights=False,
        nodes=Nodes(Execution(tmp_path, tmp_path, tmp_path)),
    )


def ray_trial_of(trials: list[Trial], failures: int) -> Any:
    """A fake of Ray's trial of a fusion."""
    config = fusion_point(trials)
    return SimpleNamespace(
        **{"config": config, "max_failures": RESTARTS, "error_file": None, "trial_id": "id"},
        num_failures=failures,
        run_metadata=SimpleNamespace(num_failures=failures),
    )


def keys(fusions: list[Fusion]) -> list[list[str]]:
    return [[trial.key for trial in fusion] for fusion in fusions]


def test_a_death_reported_twice_requeues_the_trial(
    trials: list[Trial], callback: DriverCallback
) -> None:
    """Ray gave the trial up with 2 of 2 restarts counted: one more was due."""
    callback.ended.add(trials[2].key)
    callback.on_trial_error(1, [], ray_trial_of([trials[0], trials[2]], RESTARTS))
    assert (keys(callback.requeued), callback.errors) == ([[trials[0].key]], {})
    callback.on_trial_error(1, [], ray_trial_of(trials[1:2], RESTARTS + 1))
    why = f"its worker ended without a message (trace in {callback.trace(trials[1])})"
    assert callback.errors == {trials[1].key: why}


def test_a_failing_fusion_is_halved_until_the_failing_trial_is_alone(
    trials: list[Trial], callback: DriverCallback
) -> None:
    for fusion, halves in (([0, 1, 2], [[0, 1], [2]]), ([0, 1], [[0], [1]])):
        callback.requeued.clear()
        callback.on_trial_error(1, [], ray_trial_of([trials[n] for n in fusion], RESTARTS + 1))
        assert keys(callback.requeued) == [[trials[n].key for n in half] for half in halves]
    assert callback.errors == {}
    callback.on_trial_error(1, [], ray_trial_of(trials[:1], RESTARTS + 1))
    why = f"its worker ended without a message (trace in {callback.trace(trials[0])})"
    assert callback.errors == {trials[0].key: why}


def test_a_finished_trial_whose_weights_cannot_be_read_starts_over(
    trials: list[Trial],
    callback: DriverCallback,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The sweep continues; after repeated losses the trial is given up."""
    trial, ray_trial, callback.keep_weights = trials[0], ray_trial_of(trials[:1], 0), True
    path = tmp_path / f"{trial.key}.pt"
    for number in range(RESTARTS + 1):
        callback.requeued.clear()
        path.write_bytes(b"no checkpoint")
        callback.on_trial_result(1, [], ray_trial, finished(trial))
        name = f"{path.name}.corrupt{number or ''}"
        assert f"quarantined as {name}, the trial starts over" in capsys.readouterr().err
        callback.on_trial_complete(1, [], ray_trial)
        assert keys(callback.requeued) == ([[trial.key]] if number < RESTARTS else [])
    why = "its checkpoint could not be read repeatedly; see the log above"
    assert callback.errors == {trial.key: why}
    assert callback.store.load(trial.key, needs_weights=False) is None


Round = Callable[[list[Fusion], SweepStopper], None]


def run_rounds(one: Round, trials: list[Trial], callback: DriverCallback) -> None:
    """Run rounds of fusions, the first of all trials, with a fake Tuner."""

    def tuner(fusions: list[Fusion], stopper: SweepStopper) -> Any:
        return SimpleNamespace(fit=lambda: one(fusions, stopper))

    fit(tuner, [trials], callback)


def finished(trial: Trial) -> dict[str, Any]:
    """A worker's report of a trial's last epoch."""
    epoch = EpochRecord(1, 1.0, 0.4, None, None, None, 1.1, 0.5, None, None, None, 2.0, 9.0)
    report = TrialReport([epoch], parameters=3, diverged=False, finished=True)
    where = {"hostname": "host", "node_ip": "10.0.0.1", "machine": {}, "system_metrics": {}}
    return {"trials": {trial.key: report}, "notes": [], **where}


def test_trials_lost_in_every_round_are_given_up(
    trials: list[Trial], callback: DriverCallback
) -> None:
    seen: list[list[list[str]]] = []

    def losing(fusions: list[Fusion], _: SweepStopper) -> None:
        seen.append(keys(fusions))
        for fusion in fusions:
            callback.on_trial_error(1, [], ray_trial_of(list(fusion), RESTARTS))

    run_rounds(losing, trials, callback)
    assert len(seen) == 1 + RESTARTS
    assert set(callback.errors) == {trial.key for trial in trials}
    assert set(callback.errors.values()) == {"its workers died repeatedly; see the log above"}


def test_fusions_are_split_when_nodes_join(trials: list[Trial], callback: DriverCallback) -> None:
    """One of three trials has ended; the two others continue as single trials."""
    seen: list[list[list[str]]] = []

    def growing(fusions: list[Fusion], stopper: SweepStopper) -> None:
        seen.append(keys(fusions))
        assert not stopper.stop_all()
        if len(seen) == 1:
            callback.ended.add(trials[0].key)
        callback.nodes.capacity += 2
        assert stopper.stop_all() is (len(seen) == 1)

    callback.nodes.capacity = 1
    run_rounds(growing, trials, callback)
    names = [trial.key for trial in trials]
    assert seen == [[names], [names[1:2], names[2:]]]


def failed_with(trials: list[Trial], error: str, folder: Path) -> Any:
    """A fake of Ray's trial whose worker raised this error."""
    (path := folder / "error.txt").write_text(f"Failure # 1 (at noon)\nray::t()\n  File\n{error}\n")
    ray_trial = ray_trial_of(trials, 0)
    ray_trial.error_file = str(path)
    return ray_trial


def test_a_full_storage_ends_the_sweep(
    trials: list[Trial], callback: DriverCallback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = callback.checkpoints.location
    error = f"{qualified_name(StorageFullError)}: {place} is full"

    def full(_: list[Fusion], stopper: SweepStopper) -> None:
        callback.on_trial_recover(1, [], failed_with(trials, error, tmp_path))
        assert stopper.stop_all()

    with pytest.raises(SweepError) as raised:
        run_rounds(full, trials, callback)
    assert str(raised.value) == (
        f"{place} is full; make room there; nothing is lost: run the same command again to resume"
    )

    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(TrialStore, "save", no_room)
    callback.on_trial_result(1, [], ray_trial_of(trials[:1], 0), finished(trials[0]))
    assert callback.fatal_error.startswith(f"{callback.store.storage.location} is full; ")
    assert not callback.ended


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
    ray_trial = ray_trial_of(trials, 2)
    with socket.create_server(("127.0.0.1", port)) if alive else contextlib.nullcontext():
        callback.on_trial_recover(1, [], ray_trial)
    assert ray_trial.run_metadata.num_failures == (2 if alive else 1)
    gone = "node 127.0.0.1 does not answer any more; it restarts"
    assert (gone in capsys.readouterr().err) is not alive


def test_an_unreachable_worker_costs_no_restart(
    trials: list[Trial], callback: DriverCallback, tmp_path: Path
) -> None:
    ray_trial = failed_with(trials, "The actor 0ca2cf is unavailable: RpcError", tmp_path)
    callback.on_trial_recover(1, [], ray_trial)
    assert ray_trial.run_metadata.num_failures == -1
