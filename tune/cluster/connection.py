"""Connect to a Ray cluster or to a local Ray, and keep Ray's output out of the terminal."""

import gc
import logging
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, TextIO, cast

import ray

from actmodels.errors import SweepError, first_line
from actmodels.files import write_text
from tune.cluster.local_ray import LOCAL_SETTINGS, init_ray, start_locally
from tune.tracking.tracking_uri import is_listening
from tune.trials.provenance import PACKAGE

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
DASHBOARD = "ray_dashboard"  # file in the state folder: host and port of the running dashboard


def join(address: str, code: Iterable[Path] = (PACKAGE,), name: str = "") -> Any:
    """Connect to a running cluster; raise SweepError if it does not answer or refuses."""
    if address != "auto" and not re.fullmatch(r"[^/\s]+:\d+", address):
        raise SweepError(
            f"RAY_ADDRESS is {address}, but a sweep needs the head's own address, HOST:PORT such "
            "as head:6379, not that of the dashboard (http://) or Ray's client (ray://); correct "
            "it, or start the run there: ray job submit -- bash -c 'cd PROJECT && dvc repro'"
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
    return init_ray(code, name, address=address)


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
    """Redirect the process's stderr, and what Ray's threads print, to a file, and yield it."""
    log.parent.mkdir(parents=True, exist_ok=True)
    sys.stderr.flush()
    with log.open("a", buffering=1) as file, os.fdopen(os.dup(2), "w", buffering=1) as terminal:
        os.dup2(file.fileno(), 2)
        own = getattr(sys.stderr, "on", lambda stream: stream)(terminal)  # a stream that wraps it
        out, err = (cast(TextIO, RayFilter(stream, file)) for stream in (sys.stdout, own))
        try:
            with redirect_stdout(out), redirect_stderr(err):
                yield file
        finally:
            os.dup2(terminal.fileno(), 2)


@contextmanager
def connected(
    *, dashboard: bool, state: Path, code: Iterable[Path] = (PACKAGE,), name: str = ""
) -> Iterator[None]:
    """Connect to the cluster of RAY_ADDRESS if that is set, else to a local Ray.

    Args:
        state: folder of the local Ray's access token and of Ray's log.
        code: folders of the packages that trials import, for the workers.
        name: of the job on Ray's dashboard.
    """
    address = os.environ.get("RAY_ADDRESS")
    for variable, value in (SETTINGS if address else SETTINGS | LOCAL_SETTINGS).items():
        os.environ.setdefault(variable, value)
    logging.getLogger("ray.tune").setLevel(logging.CRITICAL)  # DriverCallback reports failures
    dashboard_file, ray_log = state / DASHBOARD, state / "ray.log"
    with redirect_ray_output(ray_log) as log:
        try:
            if address:
                context = join(address, code, name)
            else:
                context = start_locally(code, name, dashboard=dashboard, state=state)
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
