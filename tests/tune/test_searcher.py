"""Optuna's search on a real Ray: a killed driver, the same command, early stopping."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from actmodels.records import TrialRecord
from tests.end_to_end.project import ROOT, kill_session, wait_for
from tests.samples import MODELS, keyed, sample_data, sample_trial, save_sample_data
from tests.tune.tracking_samples import children, parents
from tune.early_stopping import SuccessiveHalving
from tune.execution import Execution
from tune.search import OptunaSearch
from tune.sweep import run_trials

pytestmark = pytest.mark.slow(minutes=2)

POINTS, EPOCHS = 5, 9


def search(state: Path, rule: SuccessiveHalving | None = None) -> list[TrialRecord]:
    save_sample_data(state, sample_data(train=640, dev=240))
    configs = [
        sample_trial(model, max_epochs=EPOCHS, learning_rate=rate, dropout=dropout)
        for model in MODELS
        for rate in (0.01, 0.003, 0.001, 0.0003)
        for dropout in (0.0, 0.1)
    ]
    trials = keyed(configs, early_stopping=rule, search=OptunaSearch(POINTS, 1))
    execution = Execution(state, state, state / "ray", max_failures=2)
    return run_trials("sweep", trials, execution)


def finished(state: Path) -> set[str]:
    return {path.stem for path in (state / "trials").glob("*.json")}


def test_a_killed_driver_continues_to_exactly_the_number_of_points(
    state: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = f"import sys, pathlib; sys.path.insert(0, {str(ROOT)!r})\n"
    script += "from tests.tune.test_searcher import search; search(pathlib.Path(sys.argv[1]))"
    command = [sys.executable, "-c", script, str(state)]
    driver = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
    wait_for(lambda: len(finished(state)) >= 3 or driver.poll() is not None, "three trials")
    driver.send_signal(signal.SIGKILL)
    kill_session(driver.pid)
    assert driver.wait() == -signal.SIGKILL
    before = finished(state)
    records = search(state)
    keys = {record.key for record in records}
    assert keys == finished(state) and before <= keys
    assert [record.config["model"] for record in records] == [
        model for model in MODELS for _ in range(POINTS)
    ]
    assert all(len(record.history) == EPOCHS for record in records)
    assert {run.info.status for run in children(state).values()} == {"FINISHED"}
    assert children(state).keys() == keys and len(parents(state)) == 1
    assert f"sweep: {10 - len(before)} of 10 trials to run" in capfd.readouterr().out
    assert search(state) == records  # without Ray


@pytest.mark.usefixtures("one_ray")
def test_with_early_stopping(state: Path) -> None:
    records = search(state, SuccessiveHalving(grace_period=1, reduction_factor=3))
    assert len(records) == len({record.key for record in records}) == 2 * POINTS
    assert {len(record.history) for record in records} <= {1, 3, 9}
    files = [path for path in (state / "ray" / "checkpoints").rglob("*") if path.is_file()]
    assert files == []
