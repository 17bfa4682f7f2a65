"""The tracker against a real MLflow server that stops and restarts."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.tune.tracking_samples import children, end, record, started, steps, train, trial
from tune.tracking.results import log_report


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
    nested = children(state)
    assert [nested[key].info.status for key in "ab"] == ["FINISHED"] * 2
    assert [steps(state, nested[key]) for key in "ab"] == [[1, 2, 3]] * 2
    folder = tmp_path / "report"
    folder.mkdir()
    (folder / "report.md").write_text("# Report\n")
    log_report(folder, {}, state)
    assert len(list((tmp_path / "served").rglob("report.md"))) == 1
    assert capfd.readouterr().out == ""
