"""Joining a Ray cluster, or starting one on this machine."""

import gc
import logging
import os
import re
import secrets
import socket
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import grpc
import psutil
import ray
from ray._private import ray_constants
from ray._private.grpc_utils import init_grpc_channel
from ray.core.generated.gcs_service_pb2 import GetClusterIdRequest
from ray.core.generated.gcs_service_pb2_grpc import NodeInfoGcsServiceStub
from ray.exceptions import AuthenticationError

from actmodels.errors import SweepError
from actmodels.files import replacing, write_text
from actmodels.provenance import PACKAGE, sources

PAUSES = (5.0, 20.0)  # seconds before the second and third start of a local Ray
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
TOKEN_VARIABLES = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")


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
    """Start or join Ray, whose workers import the code that the trials' keys name.

    They get it as their working folder, which takes the place of the driver's: one that started
    after an edit would import that.
    """
    with TemporaryDirectory() as folder:
        for package in (PACKAGE, Path(__file__).parent):
            for file, text in sources(package).items():
                target = Path(folder) / file.relative_to(package.parent)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
        return ray.init(
            runtime_env={"working_dir": folder},
            log_to_driver=False,
            logging_level=logging.ERROR,
            **settings,
        )


def join(address: str) -> Any:
    """Connect to a running cluster.

    Raises:
        SweepError: no head answers at the address, or it refuses the token; Ray itself would try
            for minutes.
    """
    if address.startswith("ray://"):
        raise SweepError(
            f"RAY_ADDRESS is {address}, but Ray's client cannot run a sweep; name the head's own "
            "address (such as head:6379), or start the run on the cluster: ray job submit -- "
            "bash -c 'cd PROJECT && dvc repro'"
        )
    nobody = SweepError(
        f"RAY_ADDRESS is {address}, but no Ray cluster answers there; start it, correct the "
        "address, or unset RAY_ADDRESS to run on this machine"
    )
    if address == "auto":  # the cluster of this machine, which may refuse the token
        with suppress(OSError):
            address = (ray_folder() / "ray_current_cluster").read_text().strip()
    host, colon, port = address.rpartition(":")
    try:
        if colon and port.isdigit():
            socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
            with init_grpc_channel(address) as channel:  # what accepts may still say nothing
                service: Any = NodeInfoGcsServiceStub(channel)
                service.GetClusterId(GetClusterIdRequest(), timeout=10)
        return start(address=address)
    except AuthenticationError as error:
        raise SweepError(
            "RAY_AUTH_MODE is token, but no token was found; set RAY_AUTH_TOKEN_PATH to the file "
            "of the cluster's token"
        ) from error
    except grpc.RpcError as error:
        if error.code() is not grpc.StatusCode.UNAUTHENTICATED:
            raise nobody from error
        raise SweepError(_refused(address)) from error
    except (OSError, ValueError) as error:
        raise nobody from error


def _refused(address: str) -> str:
    if os.environ.get("RAY_AUTH_MODE") != "token":
        return (
            f"RAY_ADDRESS is {address}, a cluster that asks for a token, and none is sent; set "
            "RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN_PATH to the file of the cluster's token"
        )
    sent = next((name for name in TOKEN_VARIABLES if name in os.environ), "Ray's own file")
    return (
        f"RAY_ADDRESS is {address}, a cluster that refuses the token of {sent}; give the one that "
        "its head was started with"
    )


def ray_folder() -> Path:
    """Return the folder where Ray keeps its sessions on this machine."""
    return Path(os.environ.get("RAY_TMPDIR") or gettempdir(), "ray")


def start_locally(*, dashboard: bool, log: Path) -> Any:
    """Start Ray on this machine.

    A busy machine exceeds limits of Ray that are not settable: its agents have 15 s to start. So a
    failed start is repeated, at last without the dashboard, which takes most of the time.

    Args:
        log: file of Ray's messages, named in the error.

    Raises:
        SweepError: Ray did not start.
    """
    before = set(psutil.Process().children())
    for attempt, pause in enumerate((*PAUSES, 0.0), start=1):
        last = attempt > len(PAUSES)
        try:
            return start(include_dashboard=dashboard and not last)
        except Exception as error:  # Ray has no narrower one
            failure = error
        ray.shutdown()
        for process in set(psutil.Process().children()) - before:  # Ray leaves them running
            with suppress(psutil.NoSuchProcess):
                process.kill()
                process.wait()
        if last or isinstance(failure, AuthenticationError):
            break
        print(f"Ray did not start; next attempt in {pause:g} s", file=sys.stderr, flush=True)
        time.sleep(pause)
    reason = " ".join(str(failure).split())[:300] or type(failure).__name__
    raise SweepError(
        f"Ray did not start on this machine ({reason}); its logs are in "
        f"{(ray_folder() / 'session_latest').resolve() / 'logs'}, its messages in {log}; run the "
        "same command again when the machine is less busy"
    ) from failure


@contextmanager
def ray_speaks_to(log: Path) -> Iterator[None]:
    """Let what Ray prints go to a file: dozens of lines, from C++ too, where one node is lost.

    It is the process's stderr that goes there; Python's is the terminal as before.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    before, print_lines = sys.stderr, ray._private.worker.print_to_stdstream
    before.flush()
    with log.open("ab") as file, os.fdopen(os.dup(2), "w", buffering=1) as terminal:

        def to_file(data: dict[str, Any], ignore_prefix: bool) -> None:
            file.write("".join(f"{line}\n" for line in data["lines"]).encode())
            file.flush()

        os.dup2(file.fileno(), 2)
        sys.stderr, ray._private.worker.print_to_stdstream = terminal, to_file
        try:
            yield
        finally:
            sys.stderr, ray._private.worker.print_to_stdstream = before, print_lines
            os.dup2(terminal.fileno(), 2)


@contextmanager
def connected(*, dashboard: bool, state: Path) -> Iterator[None]:
    """Be connected to Ray: to the cluster of RAY_ADDRESS if that is set, else to a local one.

    Args:
        dashboard: start the dashboard of a local Ray; its address is printed.
        state: folder of this project's run state; holds a local Ray's access token, and what Ray
            itself has to say.
    """
    with ray_speaks_to(state / "ray.log"):
        yield from _connected(dashboard, state)


def _connected(dashboard: bool, state: Path) -> Iterator[None]:
    settings = SETTINGS if os.environ.get("RAY_ADDRESS") else SETTINGS | LOCAL
    for name, value in settings.items():
        os.environ.setdefault(name, value)
    logging.getLogger("ray.tune").setLevel(logging.CRITICAL)  # the driver's callback says it
    address, clusters = os.environ.get("RAY_ADDRESS"), ray_constants.ENABLE_RAY_CLUSTER
    if address:
        context = join(address)
    else:
        if not any(name in os.environ for name in (*TOKEN_VARIABLES, "RAY_AUTH_MODE")):
            os.environ["RAY_AUTH_TOKEN_PATH"] = str(access_token(state))
        ray_constants.ENABLE_RAY_CLUSTER = False  # else it would listen on all interfaces
        context = start_locally(dashboard=dashboard, log=state / "ray.log")
    told = state / DASHBOARD
    if context.dashboard_url:
        write_text(told, context.dashboard_url)
        token = os.environ.get("RAY_AUTH_TOKEN_PATH")
        note = f" (token: {token})" if token and not address else ""
        print(f"Ray dashboard: http://{context.dashboard_url}{note}", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        told.unlink(missing_ok=True)
        ray_constants.ENABLE_RAY_CLUSTER = clusters
        gc.collect()  # handles of Ray in cycles, which after this a thread could come upon
        ray.shutdown()
