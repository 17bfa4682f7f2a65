"""Join a Ray cluster, or start Ray on this machine."""

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
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any, TextIO, cast

import psutil
import ray

from actmodels.errors import SweepError, first_line
from actmodels.files import replacing, write_text
from actmodels.provenance import PACKAGE, sources

PAUSES = (5.0, 20.0)  # seconds before the second and third start of a local Ray
JOIN_TIMEOUT = 60.0  # seconds; Ray itself would try for minutes
PROBE = "import ray, sys; ray.init(sys.argv[1], log_to_driver=False, logging_level='ERROR')"
SETTINGS = {  # unless the user has set them
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AIR_NEW_OUTPUT": "0",
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",  # MLflow is the log
    "TUNE_GLOBAL_CHECKPOINT_S": "1e9",  # its snapshots are not used (tune/sweep.py)
    "TUNE_WARN_EXCESSIVE_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
LOCAL_SETTINGS = {  # of a local Ray, unless the user has set them
    "RAY_gcs_rpc_server_reconnect_timeout_s": "10",  # a local head that died does not restart
    "RAY_worker_niceness": "0",  # Ray's default of 15 would starve trials beside busy processes
    "RAY_gcs_server_port_wait_time_s": "120",
    "RAY_worker_register_timeout_seconds": "300",
}
DASHBOARD = "ray_dashboard"  # file in the state folder: host and port of the running dashboard
AUTHENTICATION = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")


def access_token(state: Path) -> Path:
    """Return the file of the local Ray's access token, created with mode 0600 if necessary.

    Without a token any user of this machine could run code in Ray; by default Ray would write one
    into the home folder. The dashboard requests the token at the first visit.
    """
    path, stored = state / "ray_token", b""
    with suppress(OSError):
        status = path.lstat()  # not of a link's target
        if stat.S_IMODE(status.st_mode) == 0o600 and status.st_uid == os.geteuid():
            stored = path.read_bytes()
    if not re.fullmatch(rb"[0-9a-f]{64}", stored):
        with replacing(path) as temporary:
            temporary.touch(mode=0o600)
            temporary.write_text(secrets.token_hex(32), encoding="ascii")
    return path


def is_listening(address: str, timeout: float = 2.0) -> bool:
    """Return whether a server listens at host:port."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=timeout).close()
    except (OSError, ValueError, OverflowError):
        return False
    return True


def init_ray(code: Iterable[Path], **settings: Any) -> Any:
    """Start or join Ray, with a snapshot of the code in the trials' keys as the workers' folder.

    In the driver's folder, a worker that starts after an edit would import the edited code.
    """
    with TemporaryDirectory() as folder:
        for package in (*code, Path(__file__).parent):
            for file, text in sources(package).items():
                target = Path(folder) / file.relative_to(package.parent)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
        environment, level = {"working_dir": folder}, logging.ERROR
        return ray.init(
            runtime_env=environment, log_to_driver=False, logging_level=level, **settings
        )


def join(address: str, code: Iterable[Path] = (PACKAGE,)) -> Any:
    """Connect to a running cluster; raise SweepError if it does not answer or refuses."""
    if address.startswith("ray://"):
        raise SweepError(
            f"RAY_ADDRESS is {address}, but Ray's client cannot run a sweep; name the head's own "
            "address (such as head:6379), or start the run on the cluster: ray job submit -- "
            "bash -c 'cd PROJECT && dvc repro'"
        )
    if address != "auto" and not is_listening(address, timeout=10):
        raise SweepError(
            f"RAY_ADDRESS is {address}, but nothing listens there; start a Ray cluster, correct "
            "the address, or unset RAY_ADDRESS to run on this machine"
        )
    try:
        probe = [sys.executable, "-c", PROBE, address]
        subprocess.run(probe, capture_output=True, timeout=JOIN_TIMEOUT, check=True)
    except subprocess.SubprocessError as error:
        reason = f"no answer within {JOIN_TIMEOUT:g} s"
        if isinstance(error, subprocess.CalledProcessError):
            reason = first_line(error.stderr.decode(errors="replace").strip().rpartition("\n")[2])
        raise SweepError(
            f"RAY_ADDRESS is {address}, but no Ray cluster there accepts this machine ({reason}); "
            "one that requires a token needs RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN_PATH, the "
            "file of its head's token; or unset RAY_ADDRESS to run on this machine"
        ) from error
    return init_ray(code, address=address)


def listen_on_loopback() -> None:
    """Make a local Ray listen on 127.0.0.1 alone.

    Ray has no public setting for it: it replaces `_node_ip_address="127.0.0.1"` by the address of
    an interface unless this private constant is false, as it always is on macOS.
    """
    from ray._private import ray_constants

    ray_constants.ENABLE_RAY_CLUSTER = False


def start_locally(code: Iterable[Path], *, dashboard: bool, state: Path) -> Any:
    """Start Ray on this machine, with up to three attempts; raise SweepError if all fail.

    Ray's agents have 15 s to start, which a busy machine exceeds and no setting changes. The last
    attempt omits the dashboard, which takes most of the time.
    """
    if not any(name in os.environ for name in AUTHENTICATION):
        os.environ["RAY_AUTH_TOKEN_PATH"] = str(access_token(state))
    listen_on_loopback()
    before = set(psutil.Process().children())
    for pause in (*PAUSES, None):
        try:
            return init_ray(code, include_dashboard=dashboard and pause is not None)
        except Exception as error:  # Ray has no narrower class
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


class RayFilter:
    """A stream that writes the output of Ray's threads, by their name, to a log instead."""

    def __init__(self, stream: TextIO, log: TextIO) -> None:
        self.stream, self.log = stream, log

    def write(self, text: str) -> int:
        """Write to the log or to the stream."""
        from_ray = threading.current_thread().name.startswith("ray_")
        return (self.log if from_ray else self.stream).write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def redirect_ray_output(log: Path) -> Iterator[TextIO]:
    """Redirect the process's stderr, and what Ray's threads print, to a file."""
    log.parent.mkdir(parents=True, exist_ok=True)
    sys.stderr.flush()
    with log.open("a", buffering=1) as file, os.fdopen(os.dup(2), "w", buffering=1) as terminal:
        os.dup2(file.fileno(), 2)
        out, err = (cast(TextIO, RayFilter(stream, file)) for stream in (sys.stdout, terminal))
        try:
            with redirect_stdout(out), redirect_stderr(err):
                yield file
        finally:
            os.dup2(terminal.fileno(), 2)


@contextmanager
def connected(*, dashboard: bool, state: Path, code: Iterable[Path] = (PACKAGE,)) -> Iterator[None]:
    """Connect to the cluster of RAY_ADDRESS if that is set, else to a local Ray.

    Args:
        state: folder of the local Ray's access token and of Ray's log.
        code: folders of the packages that trials import, for the workers.
    """
    address = os.environ.get("RAY_ADDRESS")
    for name, value in (SETTINGS if address else SETTINGS | LOCAL_SETTINGS).items():
        os.environ.setdefault(name, value)
    logging.getLogger("ray.tune").setLevel(logging.CRITICAL)  # DriverCallback reports failures
    dashboard_file = state / DASHBOARD
    with redirect_ray_output(state / "ray.log") as log:
        try:
            if address:
                context = join(address, code)
            else:
                context = start_locally(code, dashboard=dashboard, state=state)
            if context.dashboard_url:
                write_text(dashboard_file, context.dashboard_url)
                token = os.environ.get("RAY_AUTH_TOKEN_PATH")
                note = f" (token: {token})" if token and not address else ""
                url = f"http://{context.dashboard_url}{note}"
                print(f"Ray dashboard: {url}", file=sys.stderr, flush=True)
            yield
        finally:
            dashboard_file.unlink(missing_ok=True)
            gc.collect()  # Ray handles in cycles, which a thread must not collect after shutdown
            with redirect_stdout(log), redirect_stderr(log):  # it flushes its messages
                ray.shutdown()
