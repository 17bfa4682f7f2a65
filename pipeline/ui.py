"""`make ui`: start the MLflow UI on this project's store; print the report's and Ray's addresses.

act-nli ui [--port 5000]
"""

import argparse
import contextlib
import os
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import IO, NoReturn, cast

from actmodels.errors import UserError, first_line
from pipeline.parameters.load import load_params
from pipeline.runtime.stage import artifacts, file_lock, run_command, state_folder
from tune.tracking.tracking_uri import VARIABLE, check_address, is_listening, tracking_uri

HOST = "127.0.0.1"
START = 120.0  # seconds until MLflow's server answers; a new database takes long
# sh: run a command until it ends, or until the input of sh ends
WATCH = '("$@" </dev/null; kill 0) & cat >/dev/null; trap : TERM; kill 0; wait'


def update_store(state: Path) -> str:
    """Log what MLflow misses and register the exported models; return a line about it.

    DVC may have restored other models than those of the registry, or all of them in a clone.
    """
    from pipeline.inference.registry import register_exported
    from tune.tracking.tracker import log_missing

    def busy() -> NoReturn:
        raise UserError("a stage is running; start this again when it has ended")

    try:
        with file_lock(state / "run.lock", busy):
            log_missing(state)
            *_, (best, version) = register_exported(load_params().export.name).items()
    except (UserError, OSError, ValueError, LookupError) as error:
        return f"Registry:      not compared with artifacts/export: {first_line(error)}"
    return f"Registry:      {best} is version {version}, the best of artifacts/export"


def port(text: str) -> int:
    """Parse a port."""
    if not (text.isdecimal() and len(text) < 6 and 0 < int(text) < 2**16):
        raise argparse.ArgumentTypeError(f"{text[:20]} is not a port; must be from 1 to 65535")
    return int(text)


def ray_dashboard(state: Path) -> str:
    """Return a line with the address of Ray's dashboard, which exists while a sweep runs."""
    if address := os.environ.get("RAY_ADDRESS"):
        return f"Ray dashboard: that of the cluster at {address} (RAY_ADDRESS)"
    path = state / "ray_dashboard"  # left behind by a killed sweep
    address = path.read_text("ascii", "ignore").strip() if path.is_file() else ""
    if is_listening(address):
        return f"Ray dashboard: http://{address} (it asks for the token in {state / 'ray_token'})"
    return "Ray dashboard: not running; a sweep starts it and prints its address"


@contextlib.contextmanager
def server(uri: str, number: int, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run MLflow's server, which answers when the block begins and is stopped at its end.

    folder: its current folder, from which uvicorn would import a user's yaml.py, for instance.

    Raises:
        UserError: it ended, or did not answer within START seconds.
    """
    command = [sys.executable, "-m", "mlflow", "ui", "--host", HOST, "--port", str(number)]
    hidden = {"MLFLOW_BACKEND_STORE_URI": uri}  # hides a password from other users
    settings = {"MLFLOW_DISABLE_TELEMETRY": "true", "PYTHONWARNINGS": "ignore"}
    environment = settings | {**os.environ, **hidden}
    # In a session of its own, Ctrl-C does not reach it; its input ends when this process does.
    quiet = ["--workers", "1", "--uvicorn-opts", "--log-level=warning"]  # a request is no line
    watched = ["sh", "-c", WATCH, "sh", *command, *quiet]
    with subprocess.Popen(
        watched, cwd=folder, env=environment, stdin=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            end = time.monotonic() + START
            while not is_healthy(number):
                if time.monotonic() > end:
                    raise UserError(f"MLflow's server did not answer within {START:g} s; try again")
                if process.poll() is not None:
                    raise UserError("MLflow's server ended; its messages are above")
                time.sleep(0.2)
            yield process
        finally:
            cast(IO[bytes], process.stdin).close()


def is_healthy(number: int) -> bool:
    """Return whether MLflow's server answers at the port."""
    with (
        contextlib.closing(HTTPConnection(HOST, number, timeout=1)) as connection,
        contextlib.suppress(OSError, HTTPException),
    ):
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    return False


def main(argv: list[str] | None = None) -> None:
    """Print the addresses and start the server."""
    parser = argparse.ArgumentParser("act-nli ui", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--port", type=port, default=5000, help="port of the MLflow UI (default 5000)"
    )
    number = parser.parse_args(argv).port
    state = state_folder()
    uri, database = tracking_uri(state), state / "mlflow.db"
    exported = artifacts("export", "models")  # in a clone, DVC fetches these, but not the store
    if not (os.environ.get(VARIABLE) or database.is_file() or exported.is_dir()):
        raise UserError(f"{database} is missing, as nothing was logged yet; run: make repro")
    report = artifacts("report", "index.html")
    print(f"Report:        {report.as_uri() if report.is_file() else 'none yet; run: make repro'}")
    print(ray_dashboard(state), flush=True)
    from tune.tracking.mlflow_store import store_errors  # importing MLflow takes seconds
    from tune.tracking.mlflow_views import links

    with store_errors(state):
        check_address(uri)
    print(update_store(state), flush=True)
    own = urllib.parse.urlparse(uri).scheme not in ("http", "https")
    if own and is_listening(f"{HOST}:{number}"):
        raise UserError(
            f"port {number} is in use, perhaps by the MLflow UI of another project; "
            f"stop that, or use another port: make ui PORT={number % 65535 + 1}"
        )
    address = f"http://{HOST}:{number}" if own else first_line(uri).rstrip("/")
    with server(uri, number, state) if own else contextlib.nullcontext() as process:
        end = "Ctrl-C ends it" if own else f"{VARIABLE}; nothing is started here"
        print(f"MLflow:        {address} ({end})")
        for name, link in links(state, address).items():
            print(f"  {name + ':':<20} {link}", flush=True)
        if process:
            with contextlib.suppress(KeyboardInterrupt):
                process.wait()


if __name__ == "__main__":
    run_command(main)
