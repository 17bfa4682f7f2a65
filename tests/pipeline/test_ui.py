"""`make ui`: printed addresses, and a real MLflow server on a real store."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest
from filelock import FileLock

from pipeline import ui
from tests.end_to_end.project import ROOT, wait_for
from tests.pipeline.tiny_export import write_export
from tests.samples import sample_trial
from tune.tracking.mlflow_store import RunStore


def free_port() -> int:
    with closing(socket.socket()) as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


def environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RAY_", "MLFLOW_"))}
    return kept | {"PYTHONPATH": str(ROOT)}


def run(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "pipeline.ui", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment() | more, capture_output=True, text=True, timeout=50
    )


@pytest.mark.slow
def test_without_a_store_and_with_an_external_server(tmp_path: Path) -> None:
    done = run(tmp_path)
    path = tmp_path / "state" / "mlflow.db"
    output = f"error: {path} is missing, as nothing was logged yet; run: make repro\n"
    assert (done.returncode, done.stderr, done.stdout) == (1, output, "")
    report = tmp_path / "artifacts" / "report" / "index.html"
    report.parent.mkdir(parents=True)
    report.touch()
    shutil.copy(ROOT / "params.yaml", tmp_path)
    uri = "http://me:secret@tracker.test:5000"
    done = run(tmp_path, MLFLOW_TRACKING_URI=uri, RAY_ADDRESS="ray:1")
    assert done.returncode == 1
    assert done.stderr.startswith("error: MLflow cannot use http://")
    assert "secret" not in done.stdout + done.stderr
    assert done.stdout.splitlines() == [
        f"Report:        {report.as_uri()}",
        "Ray dashboard: that of the cluster at ray:1 (RAY_ADDRESS)",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_it_serves_the_store_and_links_to_searches(tmp_path: Path, number: int) -> None:
    store = RunStore(tmp_path / "state")
    (tmp_path / "yaml.py").write_text("raise ImportError")  # a user's own
    port, log = free_port(), tmp_path / "log"
    command = [sys.executable, "-P", "-m", "pipeline.ui", "--port", str(port)]
    streams = {"stdout": log.open("w"), "stderr": subprocess.STDOUT}
    with streams["stdout"]:
        server = subprocess.Popen(
            command, cwd=tmp_path, env=environment(), start_new_session=True, **streams
        )
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(lambda: "\n  results: " in log.read_text(), "links", 100)
            found = get_json(f"{address}/api/2.0/mlflow/experiments/search?max_results=9")
            assert b"sqlite" not in Path(f"/proc/{server.pid}/cmdline").read_bytes()
            assert "act-nli" in [experiment["name"] for experiment in found["experiments"]]
            taken = run(tmp_path, "--port", str(port))
            assert taken.returncode == 1
            assert f"error: port {port} is in use, perhaps by the MLflow UI" in taken.stderr
            assert f"make ui PORT={port + 1}\n" in taken.stderr
            if number == signal.SIGINT:  # a terminal sends it to all processes of the group
                os.killpg(server.pid, number)
            else:
                server.send_signal(number)
            assert server.wait(30) == (0 if number == signal.SIGINT else -number)
            # MLflow's server ends too
            wait_for(lambda: not ui.is_listening(f"{ui.HOST}:{port}"), "end of the server", 20)
        finally:
            server.kill()
            server.wait(20)
    output = log.read_text()
    assert not any(word in output for word in ("Traceback", "INFO", "Warning"))  # of the server
    assert "Report:        none yet; run: make repro" in output
    assert f"{address}/#/experiments/{store.experiment}/runs?workflowType=" in output


def get_json(url: str) -> dict[str, list[dict[str, str]]]:
    with urllib.request.urlopen(url, timeout=20) as answer:
        content: dict[str, list[dict[str, str]]] = json.load(answer)
    return content


def test_a_listening_dashboard_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    none = "Ray dashboard: not running; a sweep starts it and prints its address"
    assert ui.ray_dashboard(tmp_path) == none
    with closing(socket.socket()) as opened:
        opened.bind(("127.0.0.1", 0))
        opened.listen()
        address = f"127.0.0.1:{opened.getsockname()[1]}"
        (tmp_path / "ray_dashboard").write_text(address)
        token = tmp_path / "ray_token"
        assert ui.ray_dashboard(tmp_path) == (
            f"Ray dashboard: http://{address} (it asks for the token in {token})"
        )
    (tmp_path / "ray_dashboard").write_bytes(b"\xff127.0.0.1:99999")
    assert ui.ray_dashboard(tmp_path) == none
    (tmp_path / "ray_dashboard").write_text(address)
    assert ui.ray_dashboard(tmp_path) == none  # left behind by a sweep that was killed


@pytest.mark.slow  # MLflow's pyfunc takes seconds to import
def test_restored_models_are_registered_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an earlier commit, of an experiment, or in a clone without a store."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    names = ("adaptive_attention", "decomposable_attention")
    write_export(folder, *(sample_trial(name) for name in names))
    for name in names:
        (folder / "artifacts/export/models" / name / "README.md").write_text("---\n\nabout")
    shutil.copy(ROOT / "params.yaml", folder)
    state, best = folder / "state", folder / "artifacts/export/best.json"
    line = "Registry:      models:/textual-entailment@best is version {}, the best of artifacts/"
    for model, version in zip((*names, names[0]), "121", strict=True):
        exported = json.loads(best.read_text()) | {"best": model}
        for stored in exported["models"].values():
            stored |= {"data_digest": "d", "parameters": 9}
        best.write_text(json.dumps(exported))
        assert ui.update_store(state).startswith(line.format(version))
    with FileLock(state / "run.lock"):
        assert "a stage is running; start this again" in ui.update_store(state)
