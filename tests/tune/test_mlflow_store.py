"""A store that is missing, corrupt or remote, or that fails during a sweep."""

import socket
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import first_line
from tests.tune.tracking_samples import (
    children,
    end,
    record,
    started,
    statuses,
    steps,
    train,
    trial,
)
from tune.mlflow_store import TrackingError

# isort: split
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

RESULTS = [(trial(key), record(key)) for key in "ab"]


def test_a_store_that_fails_during_a_sweep_loses_nothing(
    state: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is called once: each call may take as long as a connection timeout."""
    tracker = started(state)
    train(tracker, "a", last=1)
    original, calls = MlflowClient.log_batch, []

    def broken(self: MlflowClient, *args: Any, **kwargs: Any) -> None:
        calls.append(1)
        original(self, *args, **kwargs)  # written, but the answer is lost
        raise MlflowException("connection lost to http://me:secret@host/api")

    monkeypatch.setattr(MlflowClient, "log_batch", broken)
    with tracker.in_background():
        train(tracker, "a", first=2)
        end(tracker, "a")
        train(tracker, "b")
        end(tracker, "b")
    assert len(calls) == 1
    assert len(caplog.records) == 1
    assert "trials continue" in caplog.text
    assert "secret" not in caplog.text
    tracker.finish("FINISHED", {}, RESULTS)  # does not raise
    assert caplog.text.endswith("the results are kept, run it again\n")
    monkeypatch.setattr(MlflowClient, "log_batch", original)
    started(state).finish("FINISHED", {}, RESULTS)
    assert statuses(state) == {"a": "FINISHED", "b": "FINISHED"}
    assert [steps(state, children(state)[key]) for key in "ab"] == [[1, 2, 3]] * 2


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://me:secret@host:1", "http://host:1"),
        ("http://secret@host", "http://host"),
        ("http://me:se@cret@host", "http://host"),
        ("postgresql://me:secr/et@host/db", "postgresql://host/db"),
        ("mysql://host/db?password=secret&ssl=1", "mysql://host/db?password=***&ssl=1"),
        ("https://h/a?X-Amz-Signature=b&n=1", "https://h/a?X-Amz-Signature=***&n=1"),
        ("https://h/a?X-Amz-Credential=b%2Fc", "https://h/a?X-Amz-Credential=***"),
        ("https://h/a?X-Amz-Security-Token=b", "https://h/a?X-Amz-Security-Token=***"),
        ("https://h/a?Signature=b&sig=c&design=d", "https://h/a?Signature=***&sig=***&design=d"),
        ("sqlite:////home/me@work/mlflow.db", "sqlite:////home/me@work/mlflow.db"),
    ],
)
def test_no_password_is_shown(address: str, shown: str) -> None:
    assert first_line(f"cannot reach {address} now\nmore") == f"cannot reach {shown} now"


def test_an_unreachable_server_fails_soon_with_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://me:secret@{address}")
        begin = time.monotonic()
        wording = rf"MLflow cannot use http://{address}; start it, or unset MLFLOW_TRACKING_URI"
        with pytest.raises(TrackingError, match=wording) as raised:
            started(tmp_path / "state")
    assert time.monotonic() - begin < 15
    assert "secret" not in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not caplog.records


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("sqlite:////proc/no/mlflow.db", "start it, or unset MLFLOW_TRACKING_URI to log into the "),
        ("sqlite://", r"start it, .* \(expected the path of a file: sqlite:////folder"),
        ("http://me:secret@:99999", r"start it, .* \(expected http://host:port\)"),
        ("  ", "start it, or unset MLFLOW_TRACKING_URI"),
        ("mysql://me:secret@host/runs", r"install the driver of such a store \(No module named "),
    ],
)
def test_an_invalid_store_fails_soon_with_one_sentence(
    uri: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    begin = time.monotonic()
    where = uri.replace("me:secret@", "").strip() or "'  '"
    with pytest.raises(TrackingError, match=f"^MLflow cannot use {where}; {message}"):
        started(tmp_path / "state")
    assert time.monotonic() - begin < 15


def test_a_corrupt_database_or_another_programs_is_not_changed(state: Path) -> None:
    with closing(sqlite3.connect(state / "other.db")) as other, other:
        other.execute("CREATE TABLE alembic_version (version_num)")
    no_database = b"not a database, but long enough to be read as one" * 9
    for content in (no_database, (state / "other.db").read_bytes()):
        (state / "mlflow.db").write_bytes(content)
        with pytest.raises(TrackingError, match=r"mlflow\.db; if it is corrupt, move it away: "):
            started(state)
        assert (state / "mlflow.db").read_bytes() == content


def test_a_deleted_experiment_has_the_command_to_restore_it(state: Path) -> None:
    started(state).finish("FINISHED", {})
    client = MlflowClient(f"sqlite:///{state / 'mlflow.db'}")
    (number,) = (e.experiment_id for e in client.search_experiments() if e.name == "act-nli")
    client.delete_experiment(number)
    with pytest.raises(TrackingError, match=f"experiments restore --experiment-id {number}"):
        started(state)
