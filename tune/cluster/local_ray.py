"""Start Ray on this machine."""

import errno
import logging
import os
import re
import secrets
import shlex
import shutil
import signal
import stat
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from threading import Event
from types import FrameType
from typing import Any

import joblib
import psutil
import ray
from ray.job_config import JobConfig

from actmodels.errors import SweepError
from actmodels.files import replacing
from tune.trials.provenance import sources

PAUSES = (5.0, 20.0)  # seconds before the second and third start of a local Ray
LOCAL_SETTINGS = {  # of a local Ray, unless the user has set them
    "RAY_gcs_rpc_server_reconnect_timeout_s": "10",  # a local head that died does not restart
    "RAY_worker_niceness": "0",  # with Ray's 15, trials get little CPU on a busy machine
    "RAY_gcs_server_port_wait_time_s": "120",
    "RAY_prestart_worker_first_driver": "0",  # workers without the code; no trial uses them
    "RAY_worker_register_timeout_seconds": "300",
}
MIN_FREE = 2**26  # bytes; Ray does not start on a full disk
TERMINATED = Event()  # after a SIGTERM, which Ray's processes may have received, too
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


def init_ray(code: Iterable[Path], name: str = "", **settings: Any) -> Any:
    """Start or join Ray, with a snapshot of the code in the trials' keys as the workers' folder.

    In the driver's folder, a worker that starts after an edit would import the edited code. name:
    of the job on the dashboard.
    """
    with TemporaryDirectory() as folder:
        for package in (*code, Path(__file__).parents[1]):
            for file, text in sources(package).items():
                target = Path(folder) / file.relative_to(package.parent)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
        environment, level = {"working_dir": folder}, logging.ERROR
        if settings.get("address") == "local":  # other nodes may have their Python elsewhere
            environment["py_executable"] = shlex.quote(sys.executable)  # Ray's shell splits it
        own = signal.getsignal(signal.SIGTERM)

        def terminate(number: int, frame: FrameType | None) -> None:
            TERMINATED.set()
            if callable(own):
                own(number, frame)

        # that of a closed terminal is for the driver; a local Ray inherits this
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
        try:
            return ray.init(
                runtime_env=environment,
                job_config=JobConfig(metadata={"job_name": name}),
                log_to_driver=False,
                logging_level=level,
                **settings,
            )
        except SystemExit:  # Ray's handler raises it
            signal.signal(signal.SIGTERM, own)
            signal.raise_signal(signal.SIGTERM)
            raise
        finally:  # Ray has replaced the handler
            signal.signal(signal.SIGTERM, terminate if callable(own) else own)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})


def listen_on_loopback() -> None:
    """Make a local Ray listen on 127.0.0.1 alone.

    Ray has no public setting for it: it replaces `_node_ip_address="127.0.0.1"` by the address of
    an interface unless this private constant is false, as it always is on macOS.
    """
    from ray._private import ray_constants

    ray_constants.ENABLE_RAY_CLUSTER = False


def start_locally(code: Iterable[Path], name: str, *, dashboard: bool, state: Path) -> Any:
    """Start Ray on this machine, with up to three attempts; raise SweepError if all fail.

    Ray's agents have 15 s to start, which a busy machine exceeds and no setting changes. The last
    attempt omits the dashboard, which takes most of the time.
    """
    check_paths()
    if not any(name in os.environ for name in AUTHENTICATION):
        os.environ["RAY_AUTH_TOKEN_PATH"] = str(access_token(state))
    listen_on_loopback()
    before = set(psutil.Process().children())
    for pause in (*PAUSES, None):
        try:
            return init_ray(
                code,
                name,
                address="local",  # else Ray joins what any user's `ray start` left in /tmp/ray
                num_cpus=joblib.cpu_count(),  # those of the job; Ray ignores the CPU affinity
                include_dashboard=dashboard and pause is not None,
            )
        except Exception as error:  # Ray has no narrower class
            failure = error
        ray.shutdown()
        for process in set(psutil.Process().children()) - before:  # Ray leaves them running
            with suppress(psutil.NoSuchProcess):
                process.kill()
                process.wait()
        if pause is None or remedy(failure):
            break
        print(f"Ray did not start; next attempt in {pause:g} s", file=sys.stderr, flush=True)
        time.sleep(pause)
    advice = remedy(failure) or (
        f"its logs are in {session_logs()}, its messages in {state / 'ray.log'}; run the same "
        "command again when the machine is less busy"
    )
    reason = " ".join(str(failure).split())[:300] or type(failure).__name__
    raise SweepError(f"Ray did not start on this machine ({reason}); {advice}") from failure


def ray_folder() -> Path:
    """Return the folder in which Ray creates the folders of its sessions."""
    parent = os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or gettempdir()
    return Path(parent, "ray")


def session_logs() -> Path:
    """Return the folder of the logs of the latest local Ray."""
    return (ray_folder() / "session_latest").resolve() / "logs"


def check_paths() -> None:
    """Raise SweepError for a path that Ray cannot quote, on which it would wait forever."""
    moves = {ray_folder(): "set RAY_TMPDIR to another folder"}
    moves |= dict.fromkeys(map(Path, (sys.executable, ray.__file__)), "move the environment")
    for path, move in moves.items():
        if set("'\\") & set(str(path)):
            raise SweepError(f"{path}: Ray cannot use a path with ' or a backslash; {move}")


def remedy(failure: Exception) -> str:
    """Return what the user must change after a failed start, or "" if waiting may help."""
    own = f"export RAY_TMPDIR=/tmp/ray-{os.getuid()}"
    with suppress(OSError):
        if shutil.disk_usage(ray_folder().parent).free < MIN_FREE:
            return f"{ray_folder().parent} is full: free space there, or {own}"
    if not isinstance(failure, OSError) or isinstance(failure, TimeoutError | ConnectionError):
        return ""
    if failure.errno in (errno.EMFILE, errno.ENFILE):
        return "allow more open files: ulimit -n 4096"
    return f"give Ray a short folder of your own: {own}"
