"""Addresses of servers; the URI of the MLflow store, and advice if it does not answer.

Does not import MLflow: it takes seconds.
"""

import importlib.util
import os
import re
import shlex
import socket
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import requests

from actmodels.errors import first_line

VARIABLE, SQLITE = "MLFLOW_TRACKING_URI", "sqlite:///"
TIMEOUTS = {"postgresql": "connect_timeout", "mysql": "connect_timeout", "mssql": "timeout"}
ADVICE = {  # by a pattern of the error; the first that matches
    r"locked": "another process writes to it; wait, or end that process (`fuser {path}` shows its "
    "number), and run the same command again",
    r"database schema \(found": "an older MLflow wrote it; copy it, then run: {upgrade}",
    r"disk is full|disk I/O|No space left": "make room on its disk and run the same command again",
    r"File exists|Not a directory": "a file is where artifacts need a folder; run: "
    "mv {artifacts} {artifacts}.old",
    r"unable to open|readonly|Permission": "its folder must exist and both must be writable",
    r"not a database|malformed|another program": "it is corrupt, or not MLflow's; move it away: "
    "mv {path} {path}.old; the next run logs the finished trials again",
    r"No module named": "install the driver of such a store",
    r"authentication|denied|does not exist|Unknown database|error code 40[13]": "correct user, "
    f"password and database of {VARIABLE}",
    r"maintenance mode": f"name a database: export {VARIABLE}={SQLITE}state/mlflow.db",
}


def is_listening(address: str, timeout: float = 2.0) -> bool:
    """Return whether a server listens at host:port."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=timeout).close()
    except (OSError, ValueError, OverflowError):
        return False
    return True


def tracking_uri(state: Path) -> str:
    """Return MLFLOW_TRACKING_URI, or the URI of the store in the state folder.

    A relative path starts at the project's folder, the parent of the state folder: DVC runs a
    queued experiment in a copy that it deletes.
    """
    uri = os.environ.get(VARIABLE) or f"{SQLITE}{state.resolve() / 'mlflow.db'}"
    prefix = rf"{SQLITE}|file:(?://(?=/))?|(?!databricks)(?=[^:]+$)"
    if found := re.fullmatch(rf"({prefix})(\S.*)", uri):
        return f"{found[1]}{state.absolute().parent / Path(found[2]).expanduser()}"
    return uri


def artifact_location(uri: str, state: Path) -> str | None:
    """Return the URI of the artifact folder; None if a tracking server chooses it."""
    if re.match(rf"(sqlite|{'|'.join(TIMEOUTS)})\b|file:|/", uri):
        return (state.resolve() / "mlartifacts").as_uri()
    return None


def check_address(uri: str) -> None:
    """Raise an error for a URI on which MLflow would retry for minutes."""
    if uri.startswith("sqlite:"):
        path = uri.removeprefix(SQLITE).partition("?")[0]
        if not path or path == uri:
            raise OSError(f"expected the path of a file: {SQLITE}/folder/mlflow.db")
        with closing(sqlite3.connect(path, timeout=20)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if tables and "experiments" not in tables:
            raise sqlite3.DatabaseError("it is the database of another program")
    elif uri.startswith(("http:", "https:")):
        with suppress(ValueError):  # the port is not a number, or too large
            if urlsplit(uri).hostname and urlsplit(uri).port != 0:
                return
        raise OSError("expected http://host:port")
    elif (dialect := re.split(r"[+:]", uri)[0]) in TIMEOUTS:
        from sqlalchemy import NullPool, create_engine

        arguments = {TIMEOUTS[dialect]: 10}
        create_engine(uri, connect_args=arguments, poolclass=NullPool).connect().close()


def outdated_server(uri: str, client: str, error: Exception) -> str:
    """Return the message for a server without logged models; client: the version of MLflow here."""
    answer = requests.get(f"{uri.rstrip('/')}/version", timeout=20).text.strip()
    version = answer if re.fullmatch(r"\d[\w.]+", answer) else "unknown"
    return (
        f"{first_line(uri)} has no logged models: its version is {version}, and MLflow {client} "
        f"needs a server of version 3 or later; update it, or unset {VARIABLE} to log into the "
        f"state folder ({first_line(error)})"
    )


def shown_uri(uri: str) -> str:
    """Return the URI for a shell command line; the variable if it has a password."""
    return shlex.quote(uri) if first_line(uri) == uri else f'"${VARIABLE}"'


def advice(uri: str, state: Path, error: Exception) -> str:
    """Return what the user can do about an error of the store."""
    path = shlex.quote(uri.removeprefix(SQLITE).partition("?")[0])
    artifacts = shlex.quote(str(state.resolve() / "mlartifacts"))
    upgrade = f"{shlex.quote(sys.executable)} -m mlflow db upgrade {shown_uri(uri)}"
    if (found := re.search(r"\(found version (\w+)", str(error))) and not _is_known(found[1]):
        return f"a newer MLflow wrote it; install that, or start another: mv {path} {path}.newer"
    for pattern, text in ADVICE.items():
        if re.search(pattern, str(error)):
            return text.format(path=path, artifacts=artifacts, upgrade=upgrade)
    if os.environ.get(VARIABLE):
        return f"start it, or unset {VARIABLE} to log into the state folder"
    return f"run the same command again; if it is corrupt, move it away: mv {path} {path}.old"


def _is_known(revision: str) -> bool:
    """Return whether the installed MLflow has a migration from this version of the schema."""
    spec = importlib.util.find_spec("mlflow")
    migrations = Path(str(spec and spec.origin)).parent / "store/db_migrations/versions"
    return any(migrations.glob(f"{revision}_*.py"))
