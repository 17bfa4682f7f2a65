"""The MLflow store's URI, the project's id there, and advice if a server does not answer.

Does not import MLflow: it takes seconds.
"""

import importlib.util
import json
import os
import platform
import re
import secrets
import shlex
import socket
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from actmodels.errors import first_line
from actmodels.files import replacing

VARIABLE, SQLITE = "MLFLOW_TRACKING_URI", "sqlite:///"
OTHER = f"{VARIABLE}={SQLITE}state/mlflow-2.db"
TIMEOUTS = {"postgresql": "connect_timeout", "mysql": "connect_timeout", "mssql": "timeout"}
ADVICE = {  # by a pattern of the error; the first that matches
    r"locked": "another process writes to it; wait, or end that process (`fuser {path}` shows its "
    "number), and run the same command again",
    r"database schema \(found": "an older MLflow wrote it; copy it, then run: {upgrade}",
    r"disk is full|disk I/O|No space left": "make room on its disk and run the same command again",
    r"File exists|Not a directory": "a file is where artifacts need a folder; run: "
    "mv {artifacts} {artifacts}.old",
    r"unable to open|readonly|Permission": "its folder must exist and both must be writable",
    r"another program": f"name another file: export {OTHER}",
    r"not a database|malformed": "it is corrupt, or not MLflow's; move it away: "
    "mv {path} {path}.old; the next run logs the finished trials again",
    r"No module named": "install the driver of such a store",
    r"authentication|denied|does not exist|Unknown database": "correct user, password and database "
    f"of {VARIABLE}",
    r"maintenance mode": f"name a database: export {VARIABLE}={SQLITE}state/mlflow.db",
}
TRANSIENT = {408, 429, *range(500, 600)}  # answers of a server that may soon be well
ANSWERS = {  # advice by the status of a server's answer
    200: "a web page answered, such as a sign-in page; name the address of MLflow itself",
    401: "set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN",
    403: "the user of MLFLOW_TRACKING_USERNAME needs EDIT permission for the experiment and the "
    "registered model; or use an experiment of your own: export MLFLOW_EXPERIMENT_NAME=NAME",
    404: f"no MLflow is at this address; correct {VARIABLE}",
    429: "it limits requests; run the same command again later",
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
        _check_server(uri)
    elif (dialect := re.split(r"[+:]", uri)[0]) in TIMEOUTS:
        from sqlalchemy import NullPool, create_engine

        arguments = {TIMEOUTS[dialect]: 10}
        create_engine(uri, connect_args=arguments, poolclass=NullPool).connect().close()


def _check_server(uri: str) -> None:
    """Raise an error for a server that fails or is not MLflow's; MLflow reports a refusal soon."""
    retry = Retry(2, read=0, backoff_factor=0.5, status_forcelist=TRANSIENT, raise_on_status=False)
    retry.respect_retry_after_header = False  # may be minutes
    path = f"{uri.rstrip('/')}/api/2.0/mlflow/experiments/search?max_results=1"
    with requests.Session() as session, suppress(requests.exceptions.SSLError):  # own certificates
        session.mount(uri, HTTPAdapter(max_retries=retry))
        try:
            answer = session.get(path, timeout=(4, 20))
        except requests.exceptions.InvalidURL as error:
            raise OSError("expected http://host:port") from error
        if answer.status_code in TRANSIENT:
            raise requests.HTTPError(f"{answer.status_code} {answer.reason}", response=answer)
        if answer.status_code == 200 and not answer.content.lstrip().startswith(b"{"):
            raise requests.HTTPError("the answer is not JSON", response=answer)


def _server_advice(uri: str, error: Exception) -> str:
    """Return the advice for a server, by the status of its answer."""
    answer, address = getattr(error, "response", None), urlsplit(uri)
    # MLflow's errors have a method
    status = getattr(error, "get_http_status_code", int)() if answer is None else answer.status_code
    place = address.netloc.rpartition("@")[2]
    place += "" if re.search(r":\d+$", place) else {"http": ":80", "https": ":443"}[address.scheme]
    hint = f"start it, or unset {VARIABLE} to log into the state folder"
    if status in ANSWERS:
        hint = ANSWERS[status]
    elif is_listening(place):
        hint = "it runs, and its log names the reason; correct it and run the same command again"
    if requests.utils.select_proxy(uri, requests.utils.get_environ_proxies(uri)):
        hint += f"; if a proxy answered in its place: export no_proxy=$no_proxy,{address.hostname}"
    return hint


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
    if uri.startswith(("http:", "https:")):
        return _server_advice(uri, error)
    path = shlex.quote(uri.removeprefix(SQLITE).partition("?")[0])
    artifacts = shlex.quote(str(state.resolve() / "mlartifacts"))
    upgrade = f"{shlex.quote(sys.executable)} -m mlflow db upgrade {shown_uri(uri)}"
    if (found := re.search(r"\(found version (\w+)", str(error))) and not _is_known(found[1]):
        return f"a newer MLflow wrote it; install that, or name another file: export {OTHER}"
    for pattern, text in ADVICE.items():
        if re.search(pattern, str(error)):
            return text.format(path=path, artifacts=artifacts, upgrade=upgrade)
    if os.environ.get(VARIABLE):
        return f"start it, or unset {VARIABLE} to log into the state folder"
    return "run the same command again"


def _is_known(revision: str) -> bool:
    """Return whether the installed MLflow has a migration from this version of the schema."""
    spec = importlib.util.find_spec("mlflow")
    migrations = Path(str(spec and spec.origin)).parent / "store/db_migrations/versions"
    return any(migrations.glob(f"{revision}_*.py"))


def project_id(state: Path) -> str:
    """Return the project's id on a server that several share; state/project.json has it.

    A moved project keeps its id. A copy gets another one: its file has another inode, and is in
    another folder or on another machine.
    """
    path, place = state.resolve() / "project.json", f"{platform.node()}:{state.resolve()}"
    with suppress(FileNotFoundError, ValueError, LookupError, TypeError):
        stored = json.loads(path.read_bytes())
        if path.stat().st_ino == stored["inode"] or stored["place"] == place:
            return str(stored["id"])
    new = secrets.token_hex(8)
    with replacing(path) as temporary:
        temporary.touch()
        stored = {"id": new, "inode": temporary.stat().st_ino, "place": place}
        temporary.write_text(json.dumps(stored), encoding="utf-8")
    return new
