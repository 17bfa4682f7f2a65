"""Addresses of MLflow's stores: what is wrong with one, and how one is shown."""

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

SQLITE = "sqlite:///"


def first_line(error: object) -> str:
    """First line, cut, and without the password that an address may hold."""
    lines = str(error).strip().splitlines() or [repr(error)]
    said = re.sub(r"//([^/:@\s]*:\S*|[^/@\s]*)@", "//", lines[0])  # it may hold / and @ itself
    return re.sub(r"(?i)((password|passwd|pwd|token|secret)\w*=)[^&\s]*", r"\1***", said)[:300]


def artifact_location(state: Path) -> str | None:
    """Return the address of the folder of artifacts; None if a server chooses it."""
    if os.environ.get("MLFLOW_TRACKING_URI"):
        return None
    return (state.resolve() / "mlartifacts").as_uri()


def look_at(uri: str) -> None:
    """Say at once what is wrong with an address, where MLflow would try for minutes or fail oddly.

    Raises:
        OSError: it is none. sqlite3.Error: it is that of a database which cannot be used.
    """
    if uri.startswith("sqlite:"):
        path = uri.removeprefix(SQLITE).partition("?")[0]
        if not path or path == uri:
            raise OSError(f"such an address has the path of a file: {SQLITE}/folder/mlflow.db")
        with closing(sqlite3.connect(path, timeout=20)) as connection:
            connection.execute("PRAGMA schema_version")
    elif uri.startswith(("http:", "https:")):
        try:
            parts = urlsplit(uri)
            whole = bool(parts.hostname) and parts.port != 0
        except ValueError:
            whole = False
        if not whole:
            raise OSError("such an address is http://host:port")
