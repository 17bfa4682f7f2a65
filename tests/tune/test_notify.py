"""The message at the end of a sweep: sent once, and never the sweep's failure."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from actmodels.errors import SweepError
from tests.samples import MODELS, keyed, sample_trial
from tests.tune.test_lost_trials import finished
from tune import notify as module
from tune.notify import notify
from tune.running_sweep import RunningSweep
from tune.trials.execution import Description, Execution

MESSAGE = {"text": "sweep: finished", "best": 0.5}


@pytest.fixture
def server() -> Iterator[tuple[str, list[Any]]]:
    """A server that answers 200, but 404 for /missing; its address and what it received."""
    received: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((self.headers["Content-Type"], json.loads(body)))
            self.send_response(404 if self.path == "/missing" else 200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", received
        server.shutdown()


def test_a_url_and_a_command_receive_json(
    server: tuple[str, list[Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, received = server
    notify(f"{url}/hook", MESSAGE)
    assert received == [("application/json", MESSAGE)]
    notify(f"cat > '{tmp_path}/message'", MESSAGE)
    assert json.loads((tmp_path / "message").read_text()) == MESSAGE
    assert capsys.readouterr().err == ""


def test_failures_and_hangs_are_one_line(
    server: tuple[str, list[Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(module, "TIMEOUT", 0.3)
    for target, problem in (
        (f"{server[0]}/missing", "HTTP Error 404: Not Found"),
        ("http://127.0.0.1:1", "<urlopen error [Errno 111] Connection refused>"),
        ("exit 3", "its command returned 3"),
        ("sleep 60 & sleep 60", "its command did not end in time"),
    ):
        notify(target, MESSAGE)
        assert capsys.readouterr().err == f"cluster.notify failed: {problem}\n"


@pytest.mark.parametrize(
    ("end", "state"),
    [(None, "finished"), (SweepError("no"), "failed"), (KeyboardInterrupt(), "interrupted")],
)
def test_each_end_of_a_sweep_is_sent_once(
    end: BaseException | None, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, sent = tmp_path / "state", list[Any]()
    monkeypatch.setattr("tune.running_sweep.notify", lambda *call: sent.append(call))
    (trial,) = keyed([sample_trial(MODELS[0])])
    about = Description("wide")
    execution = replace(Execution(folder, folder, folder), notify="command", about=about)
    for _ in range(2):  # the second run of a finished sweep trains nothing
        sweep = RunningSweep("sweep", [trial], execution, keep_weights=False)
        with contextlib.suppress(SweepError, KeyboardInterrupt), sweep.opened():
            if sweep.proposed.unfinished():
                sweep.record(finished(trial)["trials"][trial.key])
                assert sweep.proposed.is_finished(trial.key)
            if end:
                raise end
            sweep.records()
    text = f"sweep wide: {state} after 0.0 minutes, best score 0.5"
    assert sent == [("command", {"text": text, "state": state, "best": 0.5, "minutes": 0.0})]
