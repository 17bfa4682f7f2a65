"""Addresses of MLflow's stores: what is wrong with one, and how one is shown."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

from actmodels.errors import printable

SQLITE = "sqlite:///"


def first_line(error: object) -> str:
    """First line, cut, and without the password that an address may hold."""
    lines = str(error).strip().splitlines() or [repr(error)]
    return printable(lines[0])[:300]


def sqlite_code(error: BaseException | None) -> int:
    """Return SQLite's primary result code from an error or its causes; SQLITE_OK without one."""
    while error and not isinstance(error, sqlite3.Error):
        error = error.__cause__ or error.__context__
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_NOTADB)  # `look_at` raises without
    return code & 0xFF if error else sqlite3.SQLITE_OK


def artifact_location(state: Path) -> str | None:
    """Return the address of the folder of artifacts; None if a server chooses it."""
    if os.environ.get("MLFLOW_TRACKING_URI"):
        return None
    return (state.resolve() / "mlartifacts").as_uri()


def look_at(uri: str) -> None:
    """Raise OSError or sqlite3.Error for an address that cannot be used, without MLflow.

    MLflow would try for minutes, or fail oddly.
    """
    if uri.startswith("sqlite:"):
        path = uri.removeprefix(SQLITE).partition("?")[0]
        if not path or path == uri:
            raise OSError(f"such an address has the path of a file: {SQLITE}/folder/mlflow.db")
        with closing(sqlite3.connect(path, timeout=20)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if tables and "experiments" not in tables:
            raise sqlite3.DatabaseError("it is the database of another program")
    elif uri.startswith(("http:", "https:")):
        with suppress(ValueError):  # a port that is no number, or too large
            if urlsplit(uri).hostname and urlsplit(uri).port != 0:
                return
        raise OSError("such an address is http://host:port")
