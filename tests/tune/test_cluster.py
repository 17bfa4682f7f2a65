"""Joining a cluster, and the output of Ray."""

import os
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE

import psutil
import pytest

from actmodels.errors import SweepError
from tests.samples import MODELS, keyed, sample_trial
from tune.cluster.connection import connected, redirect_ray_output
from tune.sweep import run_trials
from tune.trials.execution import Execution

RAY = Path(sys.executable).with_name("ray")


def refused(address: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The error about an address."""
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(SweepError) as raised, connected(dashboard=False, state=folder):
        pass
    return str(raised.value)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("127.0.0.1:9", "nothing listens there; start a Ray cluster, correct the address, or "),
        ("127.0.0.1:99999", "nothing listens there; "),
        ("127.0.0.1", "a sweep needs the head's own address, HOST:PORT such as head:6379, not "),
        ("http://127.0.0.1:8265", "a sweep needs the head's own address, HOST:PORT such as head:"),
        ("ray://127.0.0.1:10001", "a sweep needs the head's own address, HOST:PORT such as head:"),
    ],
)
def test_an_address_without_a_server(
    address: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = refused(address, tmp_path, monkeypatch)
    assert message.startswith(f"RAY_ADDRESS is {address}, but {why}")


@pytest.mark.slow
def test_a_server_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray itself would try for minutes."""
    monkeypatch.setattr("tune.cluster.connection.JOIN_TIMEOUT", 5.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # the kernel accepts for it
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        why = "but no Ray cluster there accepts this machine (no answer within 5 s); one that requi"
        assert why in refused(address, tmp_path, monkeypatch)


def test_ray_output_is_redirected_to_a_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its C++ writes to the process's stderr, its threads to Python's stdout and stderr."""

    def write(name: str) -> None:
        print(name)
        print(f"{name} too", file=sys.stderr)

    with redirect_ray_output(log := tmp_path / "state" / "ray.log"):
        os.write(2, b"of C++\n")
        for name in ("ray_print_logs", "background"):
            thread = threading.Thread(target=write, args=[name], name=name)
            thread.start()
            thread.join()
    assert capfd.readouterr() == ("background\n", "background too\n")
    assert log.read_text() == "of C++\nray_print_logs\nray_print_logs too\n"


def train_on_the_cluster(folder: Path) -> None:
    """A driver with RAY_ADDRESS set."""
    state = folder / "state"
    execution = Execution(folder, state, state / "ray", max_failures=1)
    configs = [sample_trial(model, max_epochs=2) for model in MODELS]
    records = run_trials("sweep", trials := keyed(configs), execution)
    assert [record.key for record in records] == [trial.key for trial in trials]
    assert not list((state / "ray" / "checkpoints").iterdir())


@contextmanager
def head(port: int, environment: dict[str, str]) -> Iterator[None]:
    """A cluster of one node with one CPU."""
    folder = Path("/tmp") / f"ray{os.getpid()}"  # a socket's path may have 107 characters
    start = [RAY, "start", "--head", f"--port={port}", "--num-cpus=1", "--include-dashboard=false"]
    start += [f"--temp-dir={folder}", "--disable-usage-stats"]
    variables = os.environ | environment
    subprocess.run(start, check=True, capture_output=True, timeout=120, env=variables)
    try:
        yield
    finally:
        for process in psutil.process_iter(["cmdline"]):
            if any(str(folder) in part for part in process.info["cmdline"] or []):
                process.kill()


JOIN = """
import sys
from actmodels.errors import SweepError
from tune.cluster.connection import join
try:
    join(sys.argv[1])
except SweepError as error:
    print(error)
"""


def join_errors(address: str, *environments: dict[str, str]) -> list[str]:
    """The errors of drivers in these environments, "" without one; each waits up to a minute."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("RAY_AUTH")}
    drivers = [  # one process each: Ray reads its environment once
        subprocess.Popen(
            [sys.executable, "-c", JOIN, address], env=inherited | more, stdout=PIPE, text=True
        )
        for more in environments
    ]
    return [driver.communicate(timeout=240)[0].strip() for driver in drivers]


@pytest.mark.slow
def test_a_wrong_or_missing_token_is_refused(tmp_path: Path) -> None:
    address, right, wrong = "127.0.0.1:6397", tmp_path / "right", tmp_path / "wrong"
    for path in (right, wrong):
        path.write_text(secrets.token_hex(32))
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(right)}
    with head(6397, token):
        accepted, *refusals = join_errors(
            *(address, token, token | {"RAY_AUTH_TOKEN_PATH": str(wrong)}),
            {"RAY_AUTH_MODE": "disabled"},
        )
    assert accepted == ""
    for message in refusals:
        assert message.startswith(f"RAY_ADDRESS is {address}, but no Ray cluster there accepts")
