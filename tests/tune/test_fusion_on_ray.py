"""Fusions on a real Ray have the results of single trials, also after failures."""

import functools
import itertools
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from actmodels.data.trial_data import TrialData
from actmodels.errors import SweepError
from actmodels.records import EpochRecord, TrialRecord
from actmodels.training import Training
from actmodels.trial_config import TrialConfig
from pipeline.trials.selection import mean_accuracy
from tests.end_to_end.project import processes, wait_for
from tests.samples import keyed, sample_data, sample_trial, save_sample_data
from tests.tune.tracking_samples import children, steps
from tune.sweep import run_trials
from tune.trials.early_stopping import SuccessiveHalving
from tune.trials.execution import Execution
from tune.trials.grid import Trial
from tune.trials.storage import Storage, storage
from tune.trials.store import load_checkpoint

pytestmark = pytest.mark.slow(minutes=2)

ADAPTIVE, DECOMPOSABLE = "adaptive_attention", "decomposable_attention"


def swept(
    trials: list[Trial],
    state: Path,
    trials_per_fusion: Any,
    data: TrialData | None = None,
    max_failures: int = 2,
    **more: Any,
) -> list[TrialRecord]:
    save_sample_data(state, data or sample_data())
    settings = {"max_failures": max_failures, "trials_per_fusion": trials_per_fusion}
    execution = Execution(state, state, state / "ray", **settings)
    records = run_trials("sweep", trials, execution, **more)
    assert [record.key for record in records] == [trial.key for trial in trials]
    assert not [path for path in (state / "ray" / "checkpoints").rglob("*") if path.is_file()]
    return records


def metrics(history: Any) -> list[dict[str, float]]:
    epochs = [epoch.result() for epoch in history]
    return [{name: v for name, v in epoch.items() if v is not None} for epoch in epochs]


def assert_equal(history: Any, expected: Any) -> None:
    for epoch, other in zip(metrics(history), metrics(expected), strict=True):
        assert epoch == pytest.approx(other, rel=1e-5, abs=1e-5)


def alone(config: TrialConfig, data: TrialData) -> list[EpochRecord]:
    return list(Training(config, data).epochs())


def kill_a_worker(checkpoints: Storage, keys: list[str], seen: dict[str, Any]) -> None:
    """Kill a worker after two epochs of all trials; save their histories in `seen`."""

    def epochs(key: str) -> int:
        exists = checkpoints.exists(f"{key}.pt")
        return len(load_checkpoint(checkpoints, key)["history"]) if exists else 0

    wait_for(lambda: all(epochs(key) >= 2 for key in keys), "two epochs of each trial", 400)
    (victim, *_) = processes(os.getpid(), "worker")
    os.kill(victim.pid, signal.SIGSTOP)
    time.sleep(0.2)
    seen |= {key: load_checkpoint(checkpoints, key)["history"] for key in keys}
    os.kill(victim.pid, signal.SIGKILL)


def test_a_killed_worker_costs_at_most_the_epoch_in_progress(
    state: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The epochs saved before its death, their seconds included, are the start of the records.

    This test has its own Ray; those below share one.
    """
    data = sample_data(train=640, dev=120)
    configs = [
        sample_trial(ADAPTIVE, max_epochs=12, dropout=n / 10, learning_rate=0.001) for n in range(4)
    ]
    trials, seen = keyed(configs), dict[str, Any]()
    arguments = (storage(state / "ray" / "checkpoints"), [trial.key for trial in trials], seen)
    killer = threading.Thread(target=kill_a_worker, args=arguments, daemon=True)
    killer.start()
    records = swept(trials, state, 4, data)
    killer.join()
    assert "often the OOM killer, if memory is short; it restarts" in capfd.readouterr().err
    assert len(seen) == 4
    for record in records:
        stored = [vars(epoch) for epoch in record.history]
        saved = seen[record.key]
        assert 2 <= len(saved) < 12, "killed too late"
        assert stored[: len(saved)] == saved
    for record, config in zip(records, configs, strict=True):
        losses = [epoch.dev_loss for epoch in record.history]
        # rounding grows over 960 updates
        assert losses == pytest.approx([e.dev_loss for e in alone(config, data)], rel=1e-3)
    runs = children(state)
    assert {run.info.status for run in runs.values()} == {"FINISHED"}
    assert all(steps(state, run) == list(range(1, 13)) for run in runs.values())


@pytest.mark.usefixtures("one_ray")
def test_fusions_have_the_results_of_single_trials(
    state: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    four = functools.partial(sample_trial, max_epochs=4)
    grid = itertools.product((0.01, 0.001), (1, 2))
    configs = [four(ADAPTIVE, ponder_weight=weight, seed=seed) for weight, seed in grid]
    configs += [four(DECOMPOSABLE, dropout=dropout) for dropout in (0.0, 0.1, 0.2)]
    trials = keyed([*configs, four("decomposable_attention_as_published")])
    single = swept(trials, state, 1)
    for size in (4, "auto"):
        folder = tmp_path / str(size)
        fused = swept(trials, folder, size, keep_weights=True)
        for one, other in zip(fused, single, strict=True):
            assert (one.key, one.parameters) == (other.key, other.parameters)
            assert_equal(one.history, other.history)
        assert {path.stem for path in (folder / "trials").glob("*.pt")} == {t.key for t in trials}
        runs = children(folder)
        assert {run.info.status for run in runs.values()} == {"FINISHED"}
        assert all(steps(folder, run) == [1, 2, 3, 4] for run in runs.values())
    output = capfd.readouterr().out
    assert output.count("sweep: at most ") == 2, "a size for each of the two shapes of several"


@pytest.mark.usefixtures("one_ray")
def test_the_error_names_the_trial_that_fails_its_fusion(state: Path) -> None:
    trials = keyed([sample_trial(DECOMPOSABLE, dropout=n / 10) for n in range(6)])
    path = state / "ray" / "checkpoints" / f"{trials[4].key}.pt"
    path.parent.mkdir(parents=True)
    path.symlink_to(path)  # a circular link, which cannot be read
    with pytest.raises(SweepError) as caught:
        swept(trials, state, 6, max_failures=0)
    first, *others = str(caught.value).splitlines()
    assert first.startswith("sweep: 1 of 6 trials did not finish")
    (message,) = others
    failure = children(state)[trials[4].key].data.tags["failure"]  # its first line
    assert failure.startswith("OSError: ") and message.startswith(f"  {trials[4].name}: {failure}")
    assert f", trace in {state / 'failures' / trials[4].name}.txt)" in message
    statuses = {key: run.info.status for key, run in children(state).items()}
    assert statuses == {t.key: "FAILED" if t is trials[4] else "FINISHED" for t in trials}
    path.unlink()
    swept(trials, state, 6, max_failures=0)
    assert not list((state / "failures").iterdir())


@pytest.mark.usefixtures("one_ray")
def test_early_stopping_ends_configurations_and_completes_the_sweep(
    state: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The seeds of a configuration have the same epochs; the best mean has all."""
    data = sample_data(train=96, dev=240)
    configs = [
        sample_trial(model, max_epochs=9, learning_rate=rate, seed=seed)
        for model in (ADAPTIVE, DECOMPOSABLE)
        for rate in (0.01, 0.005, 0.003, 0.001, 0.0003, 0.0001)
        for seed in (1, 2)
    ]
    rule = SuccessiveHalving(grace_period=1, reduction_factor=3)
    records = swept(keyed(configs, early_stopping=rule), state, 3, data)
    assert not {record.key for record in records} & {trial.key for trial in keyed(configs)}
    for model in (ADAPTIVE, DECOMPOSABLE):
        own = [record for record in records if record.config["model"] == model]
        points = [*zip(own[::2], own[1::2], strict=True)]
        lengths = [{len(record.history) for record in point} for point in points]
        assert all(len(each) == 1 for each in lengths), lengths
        assert {1, 9} <= {*itertools.chain(*lengths)} <= {1, 3, 9}
        assert {len(record.history) for record in max(points, key=mean_accuracy)} == {9}
    for record, config in zip(records, configs, strict=True):
        assert record.config == config.as_dict()  # with the original max_epochs
        assert "early_stopping" in record.provenance
        run, epochs = children(state)[record.key], len(record.history)
        assert run.data.tags["epochs"] == str(epochs)
        stopped = f"stopped early after epoch {epochs}" if epochs < 9 else None
        assert run.data.tags.get("stopped") == stopped
        whole = alone(config, data)[: len(record.history)]
        assert_equal(record.history, whole)
    capfd.readouterr()
    assert swept(keyed(configs, early_stopping=rule), state, 1, data) == records
    assert "sweep: 0 of 24 trials to run" in capfd.readouterr().out
