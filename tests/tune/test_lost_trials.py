"""A trial that Ray gives up too early is run again; one that fails too often is not."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tune.execution
from tests.samples import MODELS, sample_trial
from tune.callback import DriverCallback
from tune.execution import Execution, fit
from tune.grid import Trial, with_keys
from tune.progress import Progress
from tune.store import TrialStore

RESTARTS = 2


class Silent:
    """A tracker that only remembers which trials failed, and why."""

    def __init__(self) -> None:
        self.failed: dict[str, str] = {}

    def trial_failed(self, key: str, reason: str) -> None:
        self.failed[key] = reason


@pytest.fixture
def trials() -> list[Trial]:
    configs = [sample_trial(MODELS[0], seed=seed) for seed in (1, 2, 3)]
    return with_keys(configs, data_digest="d", device="cpu", threads=1)


@pytest.fixture
def callback(trials: list[Trial], tmp_path: Path) -> DriverCallback:
    return DriverCallback(
        {trial.key: trial for trial in trials},
        store=TrialStore(tmp_path / "trials"),
        tracker=Silent(),  # type: ignore[arg-type]
        progress=Progress("test", 3, 9),
        checkpoints=tmp_path,
        keep_weights=False,
    )


def execution(folder: Path) -> Execution:
    return Execution(folder, folder, folder, 1, 0, RESTARTS, False)


def rays(trial: Trial, failures: int) -> Any:
    """Ray's side of a trial."""
    config = {"point": {"key": trial.key}}
    return SimpleNamespace(
        config=config,
        num_failures=failures,
        max_failures=RESTARTS,
        get_error=lambda: RuntimeError("first line\nout of memory"),
    )


def test_a_death_told_twice_loses_a_trial_and_does_not_fail_it(
    trials: list[Trial], callback: DriverCallback
) -> None:
    """Ray gave the trial up with 2 of 2 restarts counted: one more was due."""
    callback.on_trial_error(1, [], rays(trials[0], RESTARTS))
    assert (callback.lost, callback.errors) == ({trials[0].key}, {})
    callback.on_trial_error(1, [], rays(trials[1], RESTARTS + 1))
    assert callback.errors == {trials[1].key: "out of memory"}


def ray_that_loses(rounds: list[set[int]], trials: list[Trial], seen: list[list[str]]) -> Any:
    """A stand-in for Tuner that loses the trials of these numbers, round by round."""

    def tuner(folder: Path, given: list[Trial], _: Execution, callback: DriverCallback) -> Any:
        def run() -> None:
            lost = {trials[number].key for number in rounds[len(seen)]}
            seen.append([trial.key for trial in given])
            for trial in given:
                if trial.key in lost:
                    callback.on_trial_error(1, [], rays(trial, 2))

        return SimpleNamespace(fit=run)

    return tuner


def test_lost_trials_alone_are_run_again(
    trials: list[Trial], callback: DriverCallback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr(tune.execution, "tuner", ray_that_loses([{1, 2}, {2}, set()], trials, seen))
    fit(tmp_path, trials, execution(tmp_path), callback)
    keys = [trial.key for trial in trials]
    assert seen == [keys, keys[1:], keys[2:]]
    assert callback.errors == {}


def test_a_trial_lost_in_every_round_is_given_up(
    trials: list[Trial], callback: DriverCallback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    always = [{0}] * (1 + RESTARTS)
    monkeypatch.setattr(tune.execution, "tuner", ray_that_loses(always, trials, seen))
    fit(tmp_path, trials, execution(tmp_path), callback)
    assert len(seen) == 1 + RESTARTS
    assert callback.errors == {trials[0].key: "its workers died again and again; see the log above"}
