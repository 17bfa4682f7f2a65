"""Starting a local Ray: its token, its CPUs, and what the machine may have in its way."""

import os
import shutil
import stat
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from actmodels.errors import INTERRUPTED, SweepError
from tests.end_to_end.project import processes, wait_for
from tests.samples import sample_data, sample_trial, save_sample_data
from tests.studies.multihop.samples import multihop_trial
from tune.cluster.connection import connected
from tune.cluster.local_ray import access_token, check_paths, init_ray, remedy
from tune.trials.provenance import code_packages

ROOT = Path(__file__).parents[2]


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


def test_a_local_ray_has_three_attempts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """On a busy machine Ray's agents exceed a time limit that no setting changes."""
    for name in ("RAY_ADDRESS", "RAY_TMPDIR", "TMPDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("tune.cluster.local_ray.PAUSES", (0.01, 0.02))
    attempts: list[tuple[bool, list[psutil.Process]]] = []

    def too_slow(*_: object, address: str, num_cpus: int, include_dashboard: bool) -> None:
        assert address == "local"  # without it, Ray joins the cluster of a stale file
        assert num_cpus == 3
        attempts.append((include_dashboard, psutil.Process().children()))
        subprocess.Popen(["sleep", "100"])  # Ray leaves its processes running
        raise Exception("The current node timed out during startup.")

    monkeypatch.setattr("joblib.cpu_count", lambda: 3)
    before = psutil.Process().children()
    monkeypatch.setattr("tune.cluster.local_ray.init_ray", too_slow)
    with pytest.raises(SweepError) as raised, connected(dashboard=True, state=tmp_path):
        pass
    assert [dashboard for dashboard, _ in attempts] == [True, True, False]
    assert all(children == before for _, children in attempts)
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
    assert {"actmodels/training.py", "studies/multihop/training.py"} <= files
    assert "tune/cluster/trainable.py" in files
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

    def fail(*_: object, **settings: Any) -> None:
        raise failures.pop()  # once

    monkeypatch.setattr("tune.cluster.local_ray.init_ray", fail)
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


SIGNALED = """
import time
from pipeline.runtime.stage import run_command
from tune.cluster.local_ray import init_ray
run_command(lambda: (init_ray((), address="local", num_cpus=1), time.sleep(60)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("part", ["gcs", "raylet"])
def test_sigterm_while_ray_starts(part: str, tmp_path: Path) -> None:
    """Ray's own handler would end the driver without a message."""
    token = {"RAY_AUTH_MODE": "disabled", "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", SIGNALED],
        **{"cwd": tmp_path, "env": os.environ | token, "stderr": subprocess.PIPE, "text": True},
    ) as driver:
        wait_for(lambda: processes(driver.pid, part), "a part of Ray")
        driver.terminate()
        assert INTERRUPTED.format("SIGTERM") in driver.communicate(timeout=120)[1].splitlines()
    assert driver.returncode == 143


@pytest.mark.slow
@pytest.mark.usefixtures("one_ray")
def test_a_local_ray_listens_on_loopback_only_and_starts_no_worker_early() -> None:
    """Its head, node and workers execute any code they receive; early workers have none."""
    started = psutil.Process().children(recursive=True)
    assert not [process for process in started if process.name().startswith("ray::IDLE")]
    sockets = [socket for process in started for socket in process.net_connections()]
    listening = [s.laddr.ip.removeprefix("::ffff:") for s in sockets if s.status == "LISTEN"]
    assert len(listening) > 3
    assert set(listening) == {"127.0.0.1"}
