"""Joining a Ray cluster, or starting one on this machine."""

import gc
import logging
import os
import re
import secrets
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any, TextIO, cast

import psutil
import ray
from ray._private import ray_constants

from actmodels.errors import SweepError
from actmodels.files import replacing, write_text
from actmodels.provenance import PACKAGE, sources
from tune.tracking_uri import first_line

PAUSES = (5.0, 20.0)  # seconds before the second and third start of a local Ray
PATIENCE = 60.0  # seconds for a head to let this machine in; Ray itself would try for minutes
PROBE = "import ray, sys; ray.init(sys.argv[1], log_to_driver=False, logging_level='ERROR')"
SETTINGS = {  # those that the user has set stay
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AIR_NEW_OUTPUT": "0",
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",  # MLflow is the log
    "TUNE_GLOBAL_CHECKPOINT_S": "1e9",  # from its snapshots nothing is restored (tune/sweep.py)
    "TUNE_WARN_EXCESSIVE_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
LOCAL = {  # settings of a local Ray alone, likewise
    "RAY_gcs_rpc_server_reconnect_timeout_s": "10",  # a local head that died does not come back
    "RAY_worker_niceness": "0",  # Ray's own is 15: next to busy processes a trial would not advance
    "RAY_gcs_server_port_wait_time_s": "120",
    "RAY_worker_register_timeout_seconds": "300",
}
DASHBOARD = "ray_dashboard"  # file of the state folder: host and port, while there is one
AUTHENTICATION = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")


def access_token(state: Path) -> Path:
    """The file of this project's token for its local Ray, readable by its owner alone.

    Ray runs what it is sent, by any user of this machine; left alone it would write a token into
    the home folder. The dashboard asks for the token at the first visit.
    """
    path, held = state / "ray_token", b""
    with suppress(OSError):
        status = path.lstat()
        if stat.S_IMODE(status.st_mode) == 0o600 and status.st_uid == os.geteuid():  # no link
            held = path.read_bytes()
    if not re.fullmatch(rb"[0-9a-f]{64}", held):  # none yet, damaged, or not the owner's alone
        state.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            temporary.touch(mode=0o600)
            temporary.write_text(secrets.token_hex(32), encoding="ascii")
    return path


def start(**settings: Any) -> Any:
    """Start or join Ray, whose workers get the code that the trials' keys name, as their folder.

    In the driver's folder a worker that starts after an edit would import that.
    """
    with TemporaryDirectory() as folder:
        for package in (PACKAGE, Path(__file__).parent):
            for file, text in sources(package).items():
                target = Path(folder) / file.relative_to(package.parent)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
        where, level = {"working_dir": folder}, logging.ERROR
        return ray.init(runtime_env=where, log_to_driver=False, logging_level=level, **settings)


def join(address: str) -> Any:
    """Connect to a running cluster; SweepError if none answers, or it refuses this machine."""
    if address.startswith("ray://"):
        raise SweepError(
            f"RAY_ADDRESS is {address}, but Ray's client cannot run a sweep; name the head's own "
            "address (such as head:6379), or start the run on the cluster: ray job submit -- "
            "bash -c 'cd PROJECT && dvc repro'"
        )
    try:
        if address != "auto":
            host, _, port = address.rpartition(":")
            socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
        probe = [sys.executable, "-c", PROBE, address]
        subprocess.run(probe, capture_output=True, timeout=PATIENCE, check=True)
    except (OSError, ValueError, OverflowError) as error:
        raise SweepError(
            f"RAY_ADDRESS is {address}, but nothing listens there; start a Ray cluster, correct "
            "the address, or unset RAY_ADDRESS to run on this machine"
        ) from error
    except subprocess.SubprocessError as error:
        why = f"no answer within {PATIENCE:g} s"
        if isinstance(error, subprocess.CalledProcessError):
            why = first_line(error.stderr.decode(errors="replace").strip().rpartition("\n")[2])
        raise SweepError(
            f"RAY_ADDRESS is {address}, but no Ray cluster there lets this machine in ({why}); one "
            "that asks for a token needs RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN_PATH, the file of "
            "the token that its head was started with; or unset RAY_ADDRESS to run on this machine"
        ) from error
    return start(address=address)


def start_locally(*, dashboard: bool, state: Path) -> Any:
    """Start Ray on this machine, for this machine alone; SweepError if it does not start.

    A busy machine exceeds limits of Ray that are not settable: its agents have 15 s to start. So a
    failed start is repeated, at last without the dashboard, which takes most of the time.
    """
    if not any(name in os.environ for name in AUTHENTICATION):
        os.environ["RAY_AUTH_TOKEN_PATH"] = str(access_token(state))
    # Listen on 127.0.0.1 alone. Ray has no public setting for it: it replaces
    # `_node_ip_address="127.0.0.1"` by the address of an interface, unless this constant says that
    # no other machine can join. On macOS it always does.
    ray_constants.ENABLE_RAY_CLUSTER = False
    before = set(psutil.Process().children())
    for pause in (*PAUSES, None):
        try:
            return start(include_dashboard=dashboard and pause is not None)
        except Exception as error:  # Ray has no hyponym one
            failure = error
        ray.shutdown()
        for process in set(psutil.Process().children()) - before:  # Ray leaves them running
            with suppress(psutil.NoSuchProcess):
                process.kill()
                process.wait()
        if pause is not None:
            print(f"Ray did not start; next attempt in {pause:g} s", file=sys.stderr, flush=True)
            time.sleep(pause)
    reason = " ".join(str(failure).split())[:300] or type(failure).__name__
    sessions = Path(os.environ.get("RAY_TMPDIR") or gettempdir(), "ray")
    logs = (sessions / "session_latest").resolve() / "logs"
    raise SweepError(
        f"Ray did not start on this machine ({reason}); its logs are in {logs}, its messages in "
        f"{state / 'ray.log'}; run the same command again when the machine is less busy"
    ) from failure


class WithoutRay:
    """A stream; what Ray's own threads, which have its name, write goes to another one."""

    def __init__(self, stream: TextIO, log: TextIO) -> None:
        self.stream, self.log = stream, log

    def write(self, text: str) -> int:
        """Write to the stream of this thread."""
        ray_own = threading.current_thread().name.startswith("ray_")
        return (self.log if ray_own else self.stream).write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def ray_speaks_to(log: Path) -> Iterator[TextIO]:
    """Let what Ray prints go to a file: the process's stderr, and what threads of Ray's print."""
    log.parent.mkdir(parents=True, exist_ok=True)
    before = sys.stderr
    before.flush()
    with log.open("a", buffering=1) as file, os.fdopen(os.dup(2), "w", buffering=1) as terminal:
        os.dup2(file.fileno(), 2)
        sys.stderr = cast(TextIO, WithoutRay(terminal, file))
        try:
            with redirect_stdout(cast(TextIO, WithoutRay(sys.stdout, file))):
                yield file
        finally:
            sys.stderr = before
            os.dup2(terminal.fileno(), 2)


@contextmanager
def connected(*, dashboard: bool, state: Path) -> Iterator[None]:
    """Be connected to Ray: to the cluster of RAY_ADDRESS if that is set, else to a local one.

    The state folder holds a local Ray's access token, and what Ray itself has to say.
    """
    address = os.environ.get("RAY_ADDRESS")
    for name, value in (SETTINGS if address else SETTINGS | LOCAL).items():
        os.environ.setdefault(name, value)
    logging.getLogger("ray.tune").setLevel(logging.CRITICAL)  # the driver's callback says it
    told = state / DASHBOARD
    with ray_speaks_to(state / "ray.log") as log:
        try:
            context = join(address) if address else start_locally(dashboard=dashboard, state=state)
            if context.dashboard_url:
                write_text(told, context.dashboard_url)
                token = os.environ.get("RAY_AUTH_TOKEN_PATH")
                note = f" (token: {token})" if token and not address else ""
                url = f"http://{context.dashboard_url}{note}"
                print(f"Ray dashboard: {url}", file=sys.stderr, flush=True)
            yield
        finally:
            told.unlink(missing_ok=True)
            gc.collect()  # handles of Ray in cycles, which after this a thread could come upon
            with redirect_stdout(log), redirect_stderr(log):  # it prints what it has held back
                ray.shutdown()
