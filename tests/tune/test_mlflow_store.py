"""A store that is missing, damaged or elsewhere, or that breaks in mid-sweep."""

import socket
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

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
from tune import tracking
from tune.addresses import first_line
from tune.mlflow_store import TrackingError

# isort: split
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

RESULTS = [(trial(key), record(key)) for key in "ab"]


def test_store_that_breaks_in_mid_sweep_loses_nothing(
    state: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is tried once, however much waits: each try takes as long as a connection may take."""
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
    assert "trials go on" in caplog.text
    assert "secret" not in caplog.text
    monkeypatch.setattr(MlflowClient, "log_batch", original)
    tracker.finish("FINISHED", {}, RESULTS)
    assert statuses(state) == {"a": "FINISHED", "b": "FINISHED"}
    assert [steps(state, children(state)[key]) for key in "ab"] == [[1, 2, 3]] * 2


def test_a_store_that_answers_again_is_written_to_again(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracker = started(state)
    monkeypatch.setattr(tracking, "PAUSE", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(MlflowClient, "log_batch", lambda *_, **__: 1 / 0)
        train(tracker, "a", last=2)
    train(tracker, "a", first=3)
    assert statuses(state) == {"a": "RUNNING"}
    assert steps(state, children(state)["a"]) == [1, 2, 3]


def test_store_still_broken_at_the_end_is_completed_by_the_next_run(
    state: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tracker = started(state)

    def broken(*args: Any, **kwargs: Any) -> None:
        raise MlflowException("connection lost")

    with monkeypatch.context() as patch:
        patch.setattr(MlflowClient, "log_batch", broken)
        train(tracker, "a")
        tracker.finish("FINISHED", {}, RESULTS)  # does not raise
    assert [record.getMessage()[-12:] for record in caplog.records] == [
        "ection lost)",
        "run it again",
    ]
    started(state).finish("FINISHED", {}, RESULTS)
    assert statuses(state) == {"a": "FINISHED", "b": "FINISHED"}
    assert [steps(state, children(state)[key]) for key in "ab"] == [[1, 2, 3]] * 2


def test_run_deleted_by_hand_is_written_again(
    state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tracker = started(state)
    train(tracker, "a", last=1)
    client = MlflowClient(f"sqlite:///{state / 'mlflow.db'}")
    client.delete_run(children(state)["a"].info.run_id)
    train(tracker, "a", first=2)
    assert "'active' state" in caplog.text
    tracker.finish("FINISHED", {}, RESULTS)
    assert statuses(state) == {"a": "FINISHED", "b": "FINISHED"}


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://me:secret@host:1", "http://host:1"),
        ("http://secret@host", "http://host"),
        ("http://me:se@cret@host", "http://host"),
        ("postgresql://me:secr/et@host/db", "postgresql://host/db"),
        ("mysql://host/db?password=secret&ssl=1", "mysql://host/db?password=***&ssl=1"),
        ("sqlite:////home/me@work/mlflow.db", "sqlite:////home/me@work/mlflow.db"),
    ],
)
def test_no_password_is_shown(address: str, shown: str) -> None:
    assert first_line(f"cannot reach {address} now\nmore") == f"cannot reach {shown} now"


def test_unreachable_server_is_one_sentence_and_soon(
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
    ("uri", "said"),
    [
        ("sqlite:////proc/no/mlflow.db", "start it, or unset MLFLOW_TRACKING_URI to log into the "),
        ("sqlite://", r"start it, .* \(such an address has the path of a file: sqlite:////folder"),
        ("http://me:secret@:99999", r"start it, .* \(such an address is http://host:port\)"),
        ("  ", "start it, or unset MLFLOW_TRACKING_URI"),
        ("mysql://me:secret@host/runs", r"install what such a store needs \(No module named "),
    ],
)
def test_a_store_that_cannot_be_is_one_sentence_and_soon(
    uri: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    begin = time.monotonic()
    where = uri.replace("me:secret@", "").strip() or "'  '"
    with pytest.raises(TrackingError, match=f"^MLflow cannot use {where}; {said}"):
        started(tmp_path / "state")
    assert time.monotonic() - begin < 15


def test_damaged_database_is_one_sentence(state: Path) -> None:
    (state / "mlflow.db").write_text("not a database, but long enough to be read as one" * 9)
    with pytest.raises(TrackingError, match=r"mlflow\.db; move it away, and the next run"):
        started(state)


def test_the_database_of_another_program_is_left_alone(state: Path) -> None:
    with closing(sqlite3.connect(state / "other.db")) as other, other:
        other.execute("CREATE TABLE alembic_version (version_num)")
    content = (state / "other.db").replace(state / "mlflow.db").read_bytes()
    with pytest.raises(TrackingError, match=r"finished trials \(it is the database of another"):
        started(state)
    assert (state / "mlflow.db").read_bytes() == content


def test_a_sound_database_is_not_called_damaged(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect
    uri = f"file:{state / 'mlflow.db'}?mode=ro"

    def read_only(*_: object, **__: object) -> sqlite3.Connection:
        opened = connect(uri, uri=True)
        opened.execute("DELETE FROM runs")
        return opened

    monkeypatch.setattr("tune.addresses.sqlite3.connect", read_only)
    wording = r"mlflow\.db; mend that and run again \(attempt to write a readonly database\)"
    with pytest.raises(TrackingError, match=wording):
        started(state)


def test_deleted_experiment_says_how_to_restore_it(state: Path) -> None:
    started(state).finish("FINISHED", {})
    client = MlflowClient(f"sqlite:///{state / 'mlflow.db'}")
    (number,) = (e.experiment_id for e in client.search_experiments() if e.name == "act-nli")
    client.delete_experiment(number)
    with pytest.raises(TrackingError, match=f"experiments restore --experiment-id {number}"):
        started(state)
