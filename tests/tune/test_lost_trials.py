"""A trial that Ray gives up too early is run again; one that fails too often is not."""

import contextlib
import errno
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import ray

import tune.runner
from actmodels.errors import SweepError
from actmodels.records import EpochRecord
from tests.samples import MODELS, sample_trial
from tune.callback import DriverCallback, SweepStopper
from tune.execution import Execution
from tune.fusion import Fusion
from tune.grid import Trial, with_keys
from tune.node_check import FullError, name_of
from tune.nodes import Nodes
from tune.progress import Progress
from tune.runner import fit
from tune.storage import storage
from tune.store import TrialStore
from tune.tracking import TrialState
from tune.trainable import News

RESTARTS = 2


class Silent:
    """A tracker that writes nothing."""

    def update(self, trial: Trial, state: TrialState) -> None:
        pass


@pytest.fixture
def trials() -> list[Trial]:
    configs = [sample_trial(MODELS[0], seed=seed) for seed in (1, 2, 3)]
    return with_keys(configs, data_digest="d", device="cpu", threads=1)


@pytest.fixture
def callback(trials: list[Trial], tmp_path: Path) -> DriverCallback:
    return DriverCallback(
        {trial.key: trial for trial in trials},
        store=TrialStore(storage(tmp_path / "trials")),
        tracker=Silent(),  # type: ignore[arg-type]
        progress=Progress("test", 3, 9),
        checkpoints=storage(tmp_path),
        traces=tmp_path / "failures",
        keep_weights=False,
        nodes=Nodes(storage(tmp_path), joined=False),
    )


def execution(folder: Path) -> Execution:
    return Execution(folder, folder, folder, 1, 0, RESTARTS, False)


def rays(trials: list[Trial], failures: int) -> Any:
    """Ray's side of a fusion."""
    config = {"fusion": {trial.key: trial.config.as_dict() for trial in trials}}
    return SimpleNamespace(
        **{"config": config, "max_failures": RESTARTS, "error_file": None, "trial_id": "id"},
        num_failures=failures,
        run_metadata=SimpleNamespace(num_failures=failures),
    )


def keys(fusions: list[Fusion]) -> list[list[str]]:
    return [[trial.key for trial in fusion.trials] for fusion in fusions]


def test_a_death_told_twice_loses_a_trial_and_does_not_fail_it(
    trials: list[Trial], callback: DriverCallback
) -> None:
    """Ray gave the trial up with 2 of 2 restarts counted: one more was due."""
    callback.ended.add(trials[2].key)
    callback.on_trial_error(1, [], rays([trials[0], trials[2]], RESTARTS))
    assert (keys(callback.again), callback.errors) == ([[trials[0].key]], {})
    callback.on_trial_error(1, [], rays(trials[1:2], RESTARTS + 1))
    why = f"its worker ended without a word (trace in {callback.trace(trials[1])})"
    assert callback.errors == {trials[1].key: why}


def test_a_failing_fusion_is_halved_until_the_cause_is_alone(
    trials: list[Trial], callback: DriverCallback
) -> None:
    for fusion, halves in (([0, 1, 2], [[0, 1], [2]]), ([0, 1], [[0], [1]])):
        callback.again.clear()
        callback.on_trial_error(1, [], rays([trials[n] for n in fusion], RESTARTS + 1))
        assert keys(callback.again) == [[trials[n].key for n in half] for half in halves]
    assert callback.errors == {}
    callback.on_trial_error(1, [], rays(trials[:1], RESTARTS + 1))
    why = f"its worker ended without a word (trace in {callback.trace(trials[0])})"
    assert callback.errors == {trials[0].key: why}


def test_a_finished_trial_whose_weights_cannot_be_read_starts_over(
    trials: list[Trial],
    callback: DriverCallback,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It does not end the sweep; if it goes on, the trial is given up."""
    ours, ray_trial, callback.keep_weights = trials[0], rays(trials[:1], 0), True
    path = tmp_path / f"{ours.key}.pt"
    for number in range(RESTARTS + 1):
        callback.again.clear()
        path.write_bytes(b"no checkpoint")
        callback.on_trial_result(1, [], ray_trial, finished(ours))
        aside = f"{path.name}.corrupt{number or ''}"
        assert f"aside as {aside}, the trial is run again" in capsys.readouterr().err
        callback.on_trial_complete(1, [], ray_trial)
        assert keys(callback.again) == ([[ours.key]] if number < RESTARTS else [])
    why = "its checkpoint could not be read again and again; see the log above"
    assert callback.errors == {ours.key: why}
    assert callback.store.load(ours.key, needs_weights=False) is None


Round = Callable[[list[Fusion]], None]


def run_rounds(
    monkeypatch: pytest.MonkeyPatch,
    one: Round,
    fusions: list[Fusion],
    callback: DriverCallback,
    folder: Path,
) -> None:
    """Run fusions on a stand-in for Tuner."""

    def tuner(_folder: Path, given: list[Fusion], *_: object) -> Any:
        return SimpleNamespace(fit=lambda: one(given))

    monkeypatch.setattr(tune.runner, "tuner", tuner)
    fit(folder, fusions, execution(folder), callback, {})


def finished(trial: Trial) -> dict[str, Any]:
    """What a worker reports of a trial's last epoch."""
    epoch = EpochRecord(1, 1.0, 0.4, None, None, None, 1.1, 0.5, None, None, None, 2.0, 9.0)
    news = News([epoch], parameters=3, diverged=False, finished=True)
    where = {"hostname": "host", "node_ip": "10.0.0.1", "machine": {}, "load": {}}
    return {"trials": {trial.key: news}, "notes": [], **where}


def test_trials_lost_in_every_round_are_given_up_each_by_name(
    trials: list[Trial], callback: DriverCallback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[list[str]]] = []

    def losing(given: list[Fusion]) -> None:
        seen.append(keys(given))
        for fusion in given:
            callback.on_trial_error(1, [], rays(list(fusion.trials), RESTARTS))

    run_rounds(monkeypatch, losing, [Fusion(tuple(trials))], callback, tmp_path)
    assert len(seen) == 1 + RESTARTS
    assert set(callback.errors) == {trial.key for trial in trials}
    assert set(callback.errors.values()) == {"its workers died again and again; see the log above"}


def test_fusions_become_smaller_where_nodes_have_joined(
    trials: list[Trial], callback: DriverCallback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of three has ended; the two others go on as a fusion each, and then nothing is split."""
    seen: list[list[list[str]]] = []

    def growing(given: list[Fusion]) -> None:
        seen.append(keys(given))
        assert not SweepStopper().stop_all()
        if len(seen) == 1:
            callback.ended.add(trials[0].key)
        callback.nodes.room += 2
        assert SweepStopper().stop_all() is (len(seen) == 1)

    callback.nodes.room = 1
    run_rounds(monkeypatch, growing, [Fusion(tuple(trials))], callback, tmp_path)
    names = [trial.key for trial in trials]
    assert seen == [[names], [names[1:2], names[2:]]]


def failed_with(trials: list[Trial], error: str, folder: Path) -> Any:
    """Ray's side of a fusion whose worker raised this."""
    (path := folder / "error.txt").write_text(f"Failure # 1 (at noon)\nray::t()\n  File\n{error}\n")
    ray_trial = rays(trials, 0)
    ray_trial.error_file = str(path)
    return ray_trial


def test_a_full_store_ends_the_sweep_with_that_word(
    trials: list[Trial], callback: DriverCallback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = callback.checkpoints.place
    error = f"{name_of(FullError)}: {place} is full"

    def full(_: list[Fusion]) -> None:
        callback.on_trial_recover(1, [], failed_with(trials, error, tmp_path))
        assert SweepStopper().stop_all()

    with pytest.raises(SweepError) as told:
        run_rounds(monkeypatch, full, [Fusion(tuple(trials))], callback, tmp_path)
    assert str(told.value) == (
        f"{place} is full; make room there; nothing is lost: run the same command again to go on"
    )


def test_no_room_for_a_finished_trial_is_told_as_that(
    trials: list[Trial], callback: DriverCallback, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(TrialStore, "save", no_room)
    callback.on_trial_result(1, [], rays(trials[:1], 0), finished(trials[0]))
    assert callback.ends.startswith(f"{callback.store.place.place} is full; make room there; ")
    assert not callback.ended


@pytest.mark.parametrize("there", [True, False])
def test_a_node_that_is_gone_costs_its_trials_no_restart(
    there: bool,
    trials: list[Trial],
    callback: DriverCallback,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as raylet:
        port = raylet.getsockname()[1]
    where = {"NodeManagerAddress": "127.0.0.1", "NodeManagerPort": port}
    monkeypatch.setattr(ray, "nodes", lambda: [{"NodeID": "a", "Alive": True, **where}])
    callback.nodes.joined = True
    callback.on["id"] = "127.0.0.1"
    ray_trial = rays(trials, 2)
    with socket.create_server(("127.0.0.1", port)) if there else contextlib.nullcontext():
        callback.on_trial_recover(1, [], ray_trial)
    assert ray_trial.run_metadata.num_failures == (2 if there else 1)
    gone = "node 127.0.0.1 does not answer any more; it starts again"
    assert (gone in capsys.readouterr().err) is not there


def test_a_worker_out_of_reach_costs_its_trials_no_restart(
    trials: list[Trial], callback: DriverCallback, tmp_path: Path
) -> None:
    ray_trial = failed_with(trials, "The actor 0ca2cf is unavailable: RpcError", tmp_path)
    callback.on_trial_recover(1, [], ray_trial)
    assert ray_trial.run_metadata.num_failures == -1
