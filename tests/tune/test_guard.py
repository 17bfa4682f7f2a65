"""The death of a driver is reported, and leaves no RUNNING run."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.project import wait_for
from tune.mlflow_store import TRAINING, RunStore

DRIVER = """
import os, sys
from pathlib import Path
from tune.cluster import redirect_ray_output
from tune.guard import guarded, silence
state = Path(sys.argv[1])
log = state / "ray.log"
with redirect_ray_output(log) as (_, terminal), guarded(state, log, terminal):
    line = f"[2026-11-26 13:51:49,515 E {os.getpid()} 9] rpc_client.h:204: "
    os.write(2, (line + "Failed to connect to GCS. The program will terminate.\\n").encode())
    exec(sys.argv[2])
"""
DIED = "\nerror: this run was {}; nothing is lost: run the same command again to resume\n"
KILLED = "killed, for instance by the system because memory was short"


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        ("os.abort()", "ended by Ray (Failed to connect to GCS; see {}/ray.log)"),
        ("log.write_text(''); os.kill(os.getpid(), 9)", KILLED),
        ("silence(); os._exit(1)", None),
        ("sys.exit(1)", None),
    ],
)
def test_the_death_of_a_driver(end: str, reason: str | None, state: Path) -> None:
    store = RunStore(state)
    run = store.open("sweep", "1", {}, role=TRAINING).info.run_id
    store.client.update_run(run, "RUNNING")
    driver = [sys.executable, "-c", DRIVER, str(state), end]
    ended = subprocess.run(driver, stderr=subprocess.PIPE, text=True)
    expected = DIED.format(reason.format(state)) if reason else ""
    assert ended.stderr == expected
    assert ended.returncode != 0

    def status() -> str:
        return str(store.client.get_run(run).info.status)

    if end == "sys.exit(1)":  # `except` and `finally` ran: the driver itself ends its runs
        assert status() == "RUNNING"
    else:
        wait_for(lambda: status() == "KILLED", "the end of the run", timeout=60)


def test_the_next_run_is_not_disturbed(state: Path) -> None:
    """It holds the lock of the project, and has ended the runs of the dead driver."""
    from filelock import FileLock

    store = RunStore(state)
    run = store.open("sweep", "1", {}, role=TRAINING).info.run_id
    store.client.update_run(run, "RUNNING")
    (state / "ray.log").touch()
    with FileLock(state / "run.lock"):
        watch = [sys.executable, "-c", "from tune.guard import watch; watch()"]
        guard = [*watch, str(state), str(state / "ray.log"), "0", "1"]
        subprocess.run(guard, stdin=subprocess.DEVNULL, check=True, capture_output=True)
    assert store.client.get_run(run).info.status == "RUNNING"
