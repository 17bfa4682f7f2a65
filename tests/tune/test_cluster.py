"""Joining a cluster, and the access token of a local Ray."""

import os
import secrets
import shutil
import socket
import stat
import subprocess
import sys
import sysconfig
import threading
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from actmodels.errors import SweepError
from actmodels.provenance import code_packages
from tests.samples import MODELS, keyed, sample_data, sample_trial, save_sample_data
from tests.studies.multihop.samples import multihop_trial
from tune.cluster import connected, redirect_ray_output
from tune.execution import Execution
from tune.local_ray import access_token, check_paths, init_ray, remedy
from tune.sweep import run_trials

ROOT, RAY = Path(__file__).parents[2], Path(sys.executable).with_name("ray")


def test_the_token_is_private_and_persistent(tmp_path: Path) -> None:
    path = access_token(tmp_path / "state")
    token = path.read_text()
    assert len(token) == 64
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert access_token(tmp_path / "state").read_text() == token
    for corrupt in (b"", token[:32].encode(), b"\xff" * 64):
        path.write_bytes(corrupt)
        assert len(bytes.fromhex(access_token(tmp_path / "state").read_text())) == 32
    other = tmp_path / "other"  # what others can read is replaced
    for change in (lambda: path.chmod(0o644), lambda: path.symlink_to(path.rename(other))):
        token = path.read_text()
        change()
        access_token(tmp_path / "state")
        assert path.read_text() != token and stat.S_IMODE(path.lstat().st_mode) == 0o600


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
        ("127.0.0.1", "nothing listens there; "),
        ("127.0.0.1:99999", "nothing listens there; "),
        ("ray://127.0.0.1:10001", "Ray's client cannot run a sweep; name the head's own address "),
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
    monkeypatch.setattr("tune.cluster.JOIN_TIMEOUT", 5.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # the kernel accepts for it
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        why = "but no Ray cluster there accepts this machine (no answer within 5 s); one that requi"
        assert why in refused(address, tmp_path, monkeypatch)


def test_a_local_ray_has_three_attempts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """On a busy machine Ray's agents exceed a time limit that no setting changes."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("tune.local_ray.PAUSES", (0.01, 0.02))
    attempts: list[tuple[bool, list[psutil.Process]]] = []

    def too_slow(_code: object, *, address: str, num_cpus: int, include_dashboard: bool) -> None:
        assert address == "local"  # without it, Ray joins the cluster of a stale file
        assert num_cpus == 3
        attempts.append((include_dashboard, psutil.Process().children()))
        subprocess.Popen(["sleep", "100"])  # Ray leaves its processes running
        raise Exception("The current node timed out during startup.")

    monkeypatch.setattr("joblib.cpu_count", lambda: 3)
    before = psutil.Process().children()
    monkeypatch.setattr("tune.local_ray.init_ray", too_slow)
    with pytest.raises(SweepError) as raised, connected(dashboard=True, state=tmp_path):
        pass
    assert [dashboard for dashboard, _ in attempts] == [True, True, False]
    assert len({tuple(children) for _, children in attempts}) == 1  # the guard is one of them
    assert psutil.Process().children() == before
    why = "Ray did not start on this machine (The current node timed out during startup.); its logs"
    assert str(raised.value).startswith(f"{why} are in /tmp/ray/session_")
    assert f"/logs, its messages in {tmp_path / 'ray.log'}; run the same" in str(raised.value)
    notes = [f"Ray did not start; next attempt in {pause} s" for pause in ("0.01", "0.02")]
    assert capfd.readouterr().err.splitlines() == notes


def test_workers_have_the_code_of_the_types_of_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    files: set[str] = set()

    def note(*, runtime_env: dict[str, str], **_: object) -> None:
        folder = Path(runtime_env["working_dir"])
        files.update(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))

    monkeypatch.setattr("ray.init", note)
    init_ray(code_packages(multihop_trial()))
    assert {"actmodels/training.py", "studies/multihop/training.py", "tune/trainable.py"} <= files
    files.clear()
    init_ray(code_packages(sample_trial("adaptive_attention")))
    assert not [file for file in files if not file.startswith(("actmodels/", "tune/"))]


OWN = f"export RAY_TMPDIR=/tmp/ray-{os.getuid()}"


def test_a_start_that_cannot_succeed_is_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting for a less busy machine would not help."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    failures = [OSError(24, "Too many open files")]

    def fail(_code: object, **_: Any) -> None:
        raise failures.pop()  # once

    monkeypatch.setattr("tune.local_ray.init_ray", fail)
    with pytest.raises(SweepError) as raised, connected(dashboard=False, state=tmp_path):
        pass
    why = "Ray did not start on this machine ([Errno 24] Too many open files); allow more open"
    assert str(raised.value) == f"{why} files: ulimit -n 4096"
    own = f"give Ray a short folder of your own: {OWN}"
    assert remedy(OSError("AF_UNIX path length cannot exceed 107 bytes")) == own
    assert remedy(PermissionError(13, "Permission denied", "/tmp/ray/session_1")) == own
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
    timeout = Exception("The current node timed out during startup.")  # Ray's message
    assert remedy(timeout) == f"{tmp_path} is full: free space there, or {OWN}"


def test_a_path_that_ray_cannot_use_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for python in ("/home/a'b/.venv/bin/python", "/home/a\\b/.venv/bin/python"):
        monkeypatch.setattr("sys.executable", python)
        with pytest.raises(SweepError, match="Ray cannot use a path with ' or a backslash; move"):
            check_paths()
    monkeypatch.setattr("sys.executable", "/home/a b/ü $x/.venv/bin/python")
    check_paths()


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


def venv_in(folder: Path) -> str:
    """Return the Python of a virtual environment with this one's packages."""
    venv.create(folder, symlinks=True)
    packages = sysconfig.get_path("purelib", vars={"base": str(folder)})
    Path(packages).rmdir()
    Path(packages).symlink_to(sysconfig.get_path("purelib"))
    return str(folder / "bin" / "python")


DRIVER = """
import sys
from pathlib import Path
from tests.tune.test_cluster import train_on_the_cluster
train_on_the_cluster(Path(sys.argv[1]))
"""


@pytest.mark.slow(minutes=1)
@pytest.mark.parametrize("case", ["a stale address", "an environment with blanks"])
def test_a_local_ray_trains_despite(case: str, tmp_path: Path) -> None:
    """Ray would join the dead cluster, and end the process; or wait for workers forever."""
    folder, python = Path(f"/tmp/ray-{os.getpid()}"), sys.executable
    (folder / "ray").mkdir(parents=True)
    if case == "a stale address":
        (folder / "ray" / "ray_current_cluster").write_text("127.0.0.1:9")
    else:
        python = venv_in(tmp_path / 'an "environment" with $blanks')
    save_sample_data(tmp_path, sample_data())
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("RAY_", "MLFLOW_"))}
    driver = subprocess.run(
        [python, "-c", DRIVER, tmp_path],
        cwd=ROOT,
        env=inherited | {"RAY_TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    shutil.rmtree(folder)
    assert driver.returncode == 0, driver.stderr


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
from tune.cluster import join
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


@pytest.mark.slow
@pytest.mark.usefixtures("one_ray")
def test_a_local_ray_listens_on_loopback_only() -> None:
    """Its head, node and workers execute any code they receive."""
    started = psutil.Process().children(recursive=True)
    sockets = [socket for process in started for socket in process.net_connections()]
    listening = [s.laddr.ip.removeprefix("::ffff:") for s in sockets if s.status == "LISTEN"]
    assert len(listening) > 3
    assert set(listening) == {"127.0.0.1"}
