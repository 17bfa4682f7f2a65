"""A store that is missing, damaged or elsewhere, or that breaks in mid-sweep."""

import socket
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tune import tracking  # first: it sets up the environment that MLflow reads when imported

# isort: split
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

from tests.tune.tracking_samples import (
    PARAMS,
    children,
    epoch,
    record,
    runs,
    started,
    statuses,
    steps,
    train,
)
from tune.addresses import first_line
from tune.mlflow_store import RunStore, TrackingError, store_errors
from tune.results import log_report


def test_store_that_breaks_in_mid_sweep_loses_nothing(
    state: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tracker = started(state)
    train(tracker, "a", last=1)
    original, calls = MlflowClient.log_batch, []

    def broken(self: MlflowClient, *args: Any, **kwargs: Any) -> None:
        calls.append(1)
        original(self, *args, **kwargs)  # written, but the answer is lost
        raise MlflowException("connection lost to http://me:secret@host/api")

    monkeypatch.setattr(MlflowClient, "log_batch", broken)
    train(tracker, "a", first=2)
    tracker.trial_finished("a")
    train(tracker, "b")
    tracker.trial_finished("b")
    assert len(calls) == 1  # no call is tried again before the pause is over
    assert len(caplog.records) == 1
    assert "trials go on" in caplog.text
    assert "secret" not in caplog.text
    monkeypatch.setattr(MlflowClient, "log_batch", original)
    tracker.finish("FINISHED", {})
    assert statuses(state) == {"a": "FINISHED", "b": "FINISHED"}
    assert [steps(state, children(state)[key]) for key in "ab"] == [[1, 2, 3]] * 2


def test_store_still_broken_at_the_end_is_completed_by_the_next_run(
    state: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tracker = started(state)
    original = MlflowClient.log_batch
    monkeypatch.setattr(tracking, "RETRY_SECONDS", 0.0)

    def broken(*args: Any, **kwargs: Any) -> None:
        raise MlflowException("connection lost")

    monkeypatch.setattr(MlflowClient, "log_batch", broken)
    train(tracker, "a")
    tracker.trial_finished("a")
    tracker.finish("FINISHED", {})  # does not raise
    assert caplog.records[-1].getMessage().endswith("run it again")
    assert len(caplog.records) == 2
    monkeypatch.setattr(MlflowClient, "log_batch", original)
    again = started(state)
    again.trial_reused(record("a"), PARAMS, "decomposable_attention-a")
    again.finish("FINISHED", {})
    assert statuses(state) == {"a": "FINISHED"}
    assert steps(state, children(state)["a"]) == [1, 2, 3]


def test_run_deleted_by_hand_does_not_hold_up_the_others(
    state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tracker = started(state)
    train(tracker, "a", last=1)
    client = MlflowClient(f"sqlite:///{state / 'mlflow.db'}")
    client.delete_run(children(state)["a"].info.run_id)
    tracker.trial_epoch("a", epoch(2))
    train(tracker, "b")
    tracker.trial_finished("a")
    tracker.trial_finished("b")
    assert statuses(state) == {"b": "FINISHED"}
    assert "'active' state" in caplog.text


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


def test_another_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "mlflow.lock").symlink_to("/nowhere/at/all")
    wording = r"; mend the file that is named and run again \(.*/mlflow\.lock'\)$"
    with pytest.raises(TrackingError, match=wording):
        RunStore(tmp_path)


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


@pytest.mark.parametrize(
    ("mode", "limit", "said"),
    [
        ("rw", 1, r"make room on its disk and run again \(database or disk is full\)"),
        ("ro", 0, r"make the file and its folder writable .* \(attempt to write a readonly "),
    ],
)
def test_a_sound_database_is_not_called_damaged(
    mode: str, limit: int, said: str, state: Path
) -> None:
    database = state / "mlflow.db"
    with (
        pytest.raises(TrackingError, match=f"mlflow.db; {said}"),
        closing(sqlite3.connect(f"file:{database}?mode={mode}", uri=True)) as opened,
        store_errors(f"sqlite:///{database}"),
    ):
        opened.execute(f"PRAGMA max_page_count = {limit}")
        opened.executescript("CREATE TABLE one (a); INSERT INTO one VALUES (zeroblob(9999999))")


def test_a_library_that_is_missing_is_named(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started(state).finish("FINISHED", {})
    with closing(sqlite3.connect(state / "mlflow.db")) as database, database:
        database.execute("UPDATE experiments SET artifact_location = 's3://bucket/runs'")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{state / 'mlflow.db'}")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{state / 'mlflow.db'}")
    monkeypatch.setitem(sys.modules, "boto3", None)
    (report := state / "report").mkdir()
    (report / "report.md").touch()
    with pytest.raises(TrackingError, match=r"install what such a store needs \(.*boto3"):
        log_report(report, {}, state)


def test_deleted_experiment_says_how_to_restore_it(state: Path) -> None:
    started(state).finish("FINISHED", {})
    client = MlflowClient(f"sqlite:///{state / 'mlflow.db'}")
    (number,) = (e.experiment_id for e in client.search_experiments() if e.name == "act-nli")
    client.delete_experiment(number)
    with pytest.raises(TrackingError, match=f"experiments restore --experiment-id {number}"):
        started(state)


def test_address_in_the_environment_is_used(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "elsewhere" / "mlflow.db"
    other.parent.mkdir()
    (state / "mlflow.db").rename(other)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{other}")
    started(state).finish("FINISHED", {})
    assert not (state / "mlflow.db").exists()
    assert [run.info.status for run in runs(other.parent)] == ["FINISHED"]
