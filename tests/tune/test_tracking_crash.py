"""Real crashes, and simulated ones at every write."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

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
    started,
    statuses,
    steps,
    train,
    trial,
)
from tune.results import log_report


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


@pytest.fixture
def server(empty_database: Path, tmp_path: Path) -> Iterator[tuple[str, Callable[[bool], None]]]:
    """The address of a real server, and a function that starts or stops it."""
    shutil.copy(empty_database, tmp_path / "server.db")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--workers", "1", "--port", str(port)]
    command += ["--backend-store-uri", f"sqlite:///{tmp_path / 'server.db'}"]
    command += ["--artifacts-destination", str(tmp_path / "served")]
    processes: list[subprocess.Popen[bytes]] = []

    def switch(on: bool) -> None:
        if on:
            with (tmp_path / "server.log").open("ab") as output:
                process = subprocess.Popen(
                    command, stdout=output, stderr=output, start_new_session=True, cwd=tmp_path
                )
            processes.append(process)
        else:
            os.killpg(processes.pop().pid, signal.SIGKILL)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if (probe.connect_ex(("127.0.0.1", port)) == 0) is on:
                    return
            time.sleep(0.2)
        raise TimeoutError((tmp_path / "server.log").read_text())

    switch(True)
    yield f"http://127.0.0.1:{port}", switch
    for process in processes:
        os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.timeout(400)  # starts a server twice, each up to two minutes on a busy machine
def test_a_real_server_that_stops_and_restarts(
    server: tuple[str, Callable[[bool], None]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    address, switch = server
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    state = tmp_path / "state"
    tracker = started(state)
    train(tracker, "a", last=1)
    switch(False)
    begin = time.monotonic()
    train(tracker, "a", first=2)
    train(tracker, "b")
    end(tracker, "b")
    assert time.monotonic() - begin < 30  # one call with its retries, not ten
    assert len(caplog.records) == 1
    switch(True)
    tracker.finish("FINISHED", {"trials": 2}, [(trial(key), record(key)) for key in "ab"])
    nested = children(state, uri=address)
    assert [nested[key].info.status for key in "ab"] == ["FINISHED"] * 2
    assert [steps(state, nested[key], uri=address) for key in "ab"] == [[1, 2, 3]] * 2
    folder = tmp_path / "report"
    folder.mkdir()
    (folder / "report.md").write_text("# Report\n")
    log_report(folder, {}, state)
    assert len(list((tmp_path / "served").rglob("report.md"))) == 1
    assert capfd.readouterr().out == ""
