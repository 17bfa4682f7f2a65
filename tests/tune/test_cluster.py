"""Joining a cluster, and the token of a local one."""

import multiprocessing
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from actmodels.errors import SweepError
from tests.samples import MODELS, sample_data, sample_trial, save_sample_data
from tune.cluster import access_token, connected
from tune.execution import Execution
from tune.grid import with_keys
from tune.sweep import run_trials


def test_the_token_is_the_owners_alone_and_stays(tmp_path: Path) -> None:
    path = access_token(tmp_path / "state")
    token = path.read_text()
    assert len(token) == 64
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert access_token(tmp_path / "state").read_text() == token


@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9"])
def test_an_address_where_nobody_answers(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", address)
    start = time.monotonic()
    with (
        pytest.raises(SweepError, match=rf"RAY_ADDRESS is {address}, but no Ray cluster answers"),
        connected(dashboard=False, state=tmp_path),
    ):
        pass
    assert time.monotonic() - start < 15


def train_on_the_cluster(folder: Path) -> None:
    """What a driver does that finds RAY_ADDRESS set."""
    state = folder / "state"
    execution = Execution(folder, state, state / "ray", 1, 0, 1, False)
    configs = [sample_trial(model, max_epochs=2) for model in MODELS]
    trials = with_keys(configs, data_digest="data", device="cpu", threads=1)
    records = run_trials("sweep", trials, execution)
    assert [record.key for record in records] == [trial.key for trial in trials]
    assert not list(execution.checkpoints.iterdir())


@pytest.mark.slow
def test_a_running_cluster_is_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trials run on the cluster's node, which has one CPU of its own.

    The driver is a process of its own: Ray reads once per process whether it needs a token.
    """
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:6399")
    ray = Path(sys.executable).with_name("ray")
    folder = Path("/tmp") / f"ray{os.getpid()}"  # a socket's path may have 107 characters
    start = [ray, "start", "--head", "--port=6399", "--num-cpus=1", "--include-dashboard=false"]
    start += [f"--temp-dir={folder}", "--disable-usage-stats"]
    subprocess.run(start, check=True, capture_output=True, timeout=120)
    try:
        save_sample_data(tmp_path, sample_data())
        driver = multiprocessing.get_context("spawn").Process(
            target=train_on_the_cluster, args=(tmp_path,)
        )
        driver.start()
        driver.join(300)
        assert driver.exitcode == 0
    finally:
        for process in psutil.process_iter(["cmdline"]):
            if any(str(folder) in part for part in process.info["cmdline"] or []):
                process.kill()
