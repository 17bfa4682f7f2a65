"""The one sentence of a store or server that cannot be used; the golden file has each."""

import json
import re
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

from actmodels.errors import first_line
from tests.tune.tracking_samples import started
from tune.tracking.mlflow_store import TrackingError, store_errors
from tune.tracking.tracking_uri import tracking_uri

# isort: split
from mlflow import __version__

ADDRESSES = (
    *("http://me:secret@host:1", "http://secret@host", "http://me:se@cret@host"),
    *("postgresql://me:secr/et@host/db", "mysql://host/db?password=secret&ssl=1"),
    *("https://h/a?X-Amz-Signature=b&n=1", "https://h/a?X-Amz-Credential=b%2Fc"),
    *("https://h/a?X-Amz-Security-Token=b", "https://h/a?Signature=b&sig=c&design=d"),
    "sqlite:////home/me@work/mlflow.db",
)
URIS = (
    *("sqlite:///runs.db", "sqlite:////a/runs.db", "file:./runs", "file:///runs", "./my runs"),
    *("http://host:1", "databricks", "postgresql://host/runs"),
)
INVALID = (
    *("sqlite:////proc/no/mlflow.db", "sqlite://", "http://me:secret@127.0.0.1:9", "  "),
    *("http://me:secret@:99999", "file:///runs", "mysql://me:secret@host/runs"),
)
CAUSES = (
    *("(sqlite3.OperationalError) database is locked", "(sqlite3.OperationalError) disk I/O error"),
    *("(sqlite3.OperationalError) database or disk is full", "database disk image is malformed"),
    *("attempt to write a readonly database", "it is the database of another program"),
    "anything else",
)
PAGE = "<!doctype html>"
DENIED = json.dumps({"error_code": "PERMISSION_DENIED", "message": "Permission denied"})
EXPERIMENT = {"experiment_id": "1", "lifecycle_stage": "active", "tags": []}
Answer = Callable[[str], tuple[int, str]]
ANSWERS = (  # status 0: the server ends the connection
    *((401, "You are not authenticated."), (403, PAGE), (403, DENIED), (404, PAGE), (429, "")),
    *((500, "Permission of a file is denied"), (503, PAGE), (200, PAGE), (0, "")),
)


@contextmanager
def server(answer: Answer) -> Iterator[str]:
    """A server that answers a path with status and content."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, content = answer(self.path)
            if status:
                self.send_response(status)
                self.send_header("Retry-After", "60")
                self.end_headers()
                self.wfile.write(content.encode())

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as opened:
        threading.Thread(target=opened.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{opened.server_port}"
        opened.shutdown()


def refused(state: Path, seconds: float = 5) -> str:
    begin = time.monotonic()
    with pytest.raises(TrackingError) as raised:
        started(state)
    assert time.monotonic() - begin < seconds
    return str(raised.value)


def too_old(path: str) -> tuple[int, str]:
    """Answer as MLflow 2.22, which has no logged models."""
    if "logged-models" in path:
        return 404, PAGE
    return 200, "2.22.5" if path == "/version" else json.dumps({"experiment": EXPERIMENT})


def read_only(path: str) -> tuple[int, str]:
    allowed = "get-by-name" in path or "search" in path
    return (200, json.dumps({"experiment": EXPERIMENT})) if allowed else (403, DENIED)


def test_each_has_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Callable[[str, str], None]
) -> None:
    """Without passwords; a relative path starts at the project, as DVC deletes copies of it."""
    lines = [f"{uri} -> {first_line(f'cannot reach {uri} now')}" for uri in ADDRESSES]
    state = tmp_path / "state"
    for uri in URIS:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
        lines.append(f"{uri} -> {tracking_uri(state)}")
    for uri in INVALID:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
        lines.append(f"{uri} -> {refused(state, seconds=15)}")
    for name, answer in (("too old", too_old), ("read only", read_only)):
        with server(answer) as uri:
            monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
            lines.append(f"a server that is {name} -> {refused(state).replace(uri, 'SERVER')}")
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    for cause in CAUSES:
        with pytest.raises(TrackingError) as raised, store_errors(state):
            raise sqlite3.OperationalError(cause)
        lines.append(f"{cause} -> {raised.value}")
    text = "".join(f"{line}\n" for line in lines)
    for old, new in ((tmp_path, "PROJECT"), (sys.executable, "PYTHON"), (__version__, "VERSION")):
        text = text.replace(str(old), new)
    # MLflow and requests word the rest
    text = re.sub(r" \((HTTPConnectionPool|The filesystem|API request).*", "", text)
    assert "secret" not in re.sub(r"^.*? -> ", "", text, flags=re.MULTILINE)
    golden("tracking_errors.txt", text)


@pytest.mark.parametrize("proxy", [False, True])
def test_an_answer_has_its_own_advice(
    proxy: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    golden: Callable[[str, str], None],
) -> None:
    lines = []
    for status, content in ANSWERS:
        with server(lambda _, answer=(status, content): answer) as uri:
            for name in ("no_proxy", "NO_PROXY"):
                monkeypatch.delenv(name, raising=False)
            monkeypatch.setenv("http_proxy", uri if proxy else "")
            monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
            message = refused(tmp_path / "state")
        command = re.search(r"; if a proxy answered in its place: (export \S+) \(", message)
        assert bool(command) is proxy
        if command:
            shell = ["sh", "-c", f"{command[1]}; echo $no_proxy"]
            monkeypatch.setenv("no_proxy", subprocess.check_output(shell, text=True).strip())
            assert not requests.utils.get_environ_proxies(uri)
        message = re.split(r"; if a proxy| \(", message)[0]  # the rest is of MLflow and requests
        lines.append(f"{status} {content} -> {message}\n".replace(uri, "SERVER"))
    golden("server_answers.txt", "".join(lines))
