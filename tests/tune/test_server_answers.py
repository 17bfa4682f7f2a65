"""Servers that are too old, that fail or refuse, and what a proxy answers in their place."""

import json
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

from tests.tune.tracking_samples import started
from tune.tracking.mlflow_store import TrackingError

# isort: split
from mlflow import __version__

EXPERIMENT = {"experiment": {"experiment_id": "1", "lifecycle_stage": "active"}}
PAGE = "<!doctype html>"
Answer = Callable[[str], tuple[int, str]]


@contextmanager
def server(answer: Answer) -> Iterator[str]:
    """A server that answers a path with status and content; status 0: it ends the connection."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, content = answer(self.path)
            if status:
                self.send_response(status)
                self.send_header("Retry-After", "60")
                self.end_headers()
                self.wfile.write(content.encode())

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as opened:
        threading.Thread(target=opened.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{opened.server_port}"
        opened.shutdown()


def refused(state: Path) -> str:
    begin = time.monotonic()
    with pytest.raises(TrackingError) as raised:
        started(state)
    assert time.monotonic() - begin < 5
    return str(raised.value)


def test_a_server_without_logged_models_is_refused_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def old(path: str) -> tuple[int, str]:  # MLflow 2.22
        if "logged-models" in path:
            return 404, PAGE
        return 200, "2.22.5" if path == "/version" else json.dumps(EXPERIMENT)

    with server(old) as uri:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
        version = rf"its version is 2\.22\.5, and MLflow {re.escape(__version__)} needs a server of"
        assert re.search(version, refused(tmp_path / "state"))


DENIED = json.dumps({"error_code": "PERMISSION_DENIED", "message": "Permission denied"})
REASON = "it runs, and its log names the reason; correct it and run the same command again"


@pytest.mark.parametrize(
    ("status", "content", "hint"),
    [
        (401, "You are not authenticated.", "set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PAS"),
        (
            403,
            PAGE,
            "the user of MLFLOW_TRACKING_USERNAME needs EDIT permission for the experiment",
        ),
        (403, DENIED, "the user of MLFLOW_TRACKING_USERNAME needs EDIT permission for the experim"),
        (404, PAGE, "no MLflow is at this address; correct MLFLOW_TRACKING_URI"),
        (429, "", "it limits requests; run the same command again later"),
        (500, "Permission of a file is denied", REASON),
        (503, PAGE, REASON),
        (200, PAGE, "a web page answered, such as a sign-in page; name the address of MLflow"),
        (0, "", REASON),
    ],
)
@pytest.mark.parametrize("proxy", [False, True])
def test_an_answer_has_its_own_advice(
    status: int,
    content: str,
    hint: str,
    proxy: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with server(lambda _: (status, content)) as uri:
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("http_proxy", uri if proxy else "")
        monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
        message = refused(tmp_path / "state")
    assert message.startswith(f"MLflow cannot use {uri}; {hint}")
    command = re.search(r"if a proxy answered in its place: (export \S+) \(", message)
    assert bool(command) is proxy
    if command:
        shell = ["sh", "-c", f"{command[1]}; echo $no_proxy"]
        monkeypatch.setenv("no_proxy", subprocess.check_output(shell, text=True).strip())
        assert not requests.utils.get_environ_proxies(uri)


def test_a_user_who_may_only_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(path: str) -> tuple[int, str]:
        allowed = "get-by-name" in path or "search" in path
        experiment = EXPERIMENT["experiment"] | {"tags": []}
        return (200, json.dumps({"experiment": experiment})) if allowed else (403, DENIED)

    with server(read_only) as uri:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
        assert "needs EDIT permission for the experiment" in refused(tmp_path / "state")
