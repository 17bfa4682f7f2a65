"""Start MLflow's pages on this project's store, and print where everything else is: `make ui`.

python -m pipeline.ui [--port 5000]
"""

import argparse
import contextlib
import os
import socket
import sys
import urllib.parse
from pathlib import Path
from typing import NoReturn

from actmodels.errors import UserError
from pipeline.runtime.stage import artifacts, run_command, state_folder
from tune.tracking_uri import first_line

HOST = "127.0.0.1"
STAGES = ("sweep", "sequences", "multihop", "cloze")  # accuracies on different tasks do not compare
SEARCHES = {
    f"trials of {stage}": f"tags.kind = 'trial' AND tags.stage = '{stage}'" for stage in STAGES
} | {"sweeps": "tags.role = 'training'", "results": "tags.role = 'result'"}


def tracking_uri(state: Path) -> str:
    """Return the store that the stages log to.

    Raises:
        UserError: no stage has logged yet.
    """
    database = state / "mlflow.db"
    uri = os.environ.get("MLFLOW_TRACKING_URI")
    if not uri and not database.is_file():
        raise UserError(f"{database} is missing, as nothing was logged yet; run: make repro")
    return uri or f"sqlite:///{database}"


def answers(host: str, port: int) -> bool:
    """Return whether a server listens there."""
    with contextlib.suppress(OSError, OverflowError):  # a port beyond all ports
        socket.create_connection((host, port), timeout=1).close()
        return True
    return False


def port(text: str) -> int:
    """Parse a port."""
    if not (text.isdecimal() and len(text) < 6 and 0 < int(text) < 2**16):
        raise argparse.ArgumentTypeError(f"{text[:20]} is none; must be from 1 to 65535")
    return int(text)


def where_ray_is(state: Path) -> str:
    """Return a sentence on Ray's dashboard, which exists while a sweep runs."""
    if address := os.environ.get("RAY_ADDRESS"):
        return f"Ray dashboard: that of the cluster at {address} (RAY_ADDRESS)"
    path = state / "ray_dashboard"  # a sweep that was killed leaves it behind
    address = path.read_text("ascii", "ignore").strip() if path.is_file() else ""
    host, _, number = address.rpartition(":")
    if number.isdecimal() and answers(host, int(number[:6])):
        return f"Ray dashboard: http://{address} (it asks for the token in {state / 'ray_token'})"
    return "Ray dashboard: none now; it is there while a sweep trains, which prints its address"


def search_links(address: str, experiment: str) -> dict[str, str]:
    """Return addresses of MLflow's page of filtered runs, the best on dev first."""
    order = {"orderByKey": "metrics.`best_dev_accuracy`", "orderByAsc": "false"}
    return {
        name: f"{address}/#/experiments/{experiment}/runs?"
        + urllib.parse.urlencode({"searchFilter": condition, **order})
        for name, condition in SEARCHES.items()
    }


def serve(uri: str, number: int) -> NoReturn:
    """Become MLflow's server; Ctrl-C ends it."""
    command = [sys.executable, "-m", "mlflow", "ui", "--host", HOST, "--port", str(number)]
    command += ["--workers", "1"]
    os.environ["MLFLOW_BACKEND_STORE_URI"] = uri  # a password in a command could be read
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    print(end="", flush=True)
    os.execv(sys.executable, command)


def main() -> None:
    """Say where things are and serve."""
    parser = argparse.ArgumentParser("python -m pipeline.ui", description=__doc__)
    parser.add_argument("--port", type=port, default=5000, help="of MLflow's pages (default 5000)")
    number = parser.parse_args().port
    uri = tracking_uri(state_folder())
    report = artifacts("report", "index.html")
    print(f"Report:        {report.as_uri() if report.is_file() else 'none yet; run: make repro'}")
    print(where_ray_is(state_folder()), flush=True)
    from tune.mlflow_store import check_address, experiment_id  # MLflow: seconds

    check_address(uri)
    if urllib.parse.urlparse(uri).scheme in ("http", "https"):
        print(f"MLflow:        {first_line(uri)} (MLFLOW_TRACKING_URI; nothing is started here)")
        return
    if answers(HOST, number):
        raise UserError(
            f"port {number} is taken, perhaps by MLflow's pages of another project; "
            f"end that, or choose another one: make ui PORT={number % 65535 + 1}"
        )
    experiment = experiment_id(uri, state_folder())
    address = f"http://{HOST}:{number}"
    print(f"MLflow:        {address} (Ctrl-C ends it)")
    for name, link in search_links(address, experiment).items() if experiment else ():
        print(f"  {name + ':':<20} {link}")
    serve(uri, number)


if __name__ == "__main__":
    run_command(main)
