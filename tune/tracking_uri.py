"""MLflow tracking URIs: validation without MLflow, and display without passwords."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

from actmodels.errors import printable

SQLITE = "sqlite:///"


def first_line(error: object) -> str:
    """Return the first line, up to 300 characters, without the password of a URI in it."""
    lines = str(error).strip().splitlines() or [repr(error)]
    return printable(lines[0])[:300]


def artifact_location(state: Path) -> str | None:
    """Return the URI of the artifact folder; None if a tracking server chooses it."""
    if os.environ.get("MLFLOW_TRACKING_URI"):
        return None
    return (state.resolve() / "mlartifacts").as_uri()


def validate(uri: str) -> None:
    """Raise OSError or sqlite3.Error for a URI on which MLflow would retry for minutes."""
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
