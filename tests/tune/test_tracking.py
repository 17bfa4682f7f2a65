"""The tracker against a real sqlite store; crashes are real or cut in at every write."""

import gc
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tune import tracking  # first: it sets up the environment that MLflow reads when imported

# isort: split
from mlflow import MlflowClient
from mlflow.entities import Run
from mlflow.exceptions import MlflowException

from actmodels.config import build_trial
from actmodels.records import EpochRecord, TrialRecord
from tune.tracking import Tracker, TrackingError, log_evaluation, log_report, provenance_tags

ROOT = Path(__file__).parents[2]
WRITES = ("create_run", "log_batch", "set_terminated", "update_run", "delete_tag", "delete_run")
CONFIG = build_trial(
    "decomposable_attention",
    {
        "width": 64,
        "dropout": 0.1,
        "init": "xavier",
        "init_std": 0.01,
        "optimizer": "adam",
        "learning_rate": 0.001,
        "adagrad_accumulator": 0.1,
        "clip_norm": 5.0,
        "batch_size": 32,
        "oov_rule": "hashed",
        "oov_buckets": 100,
        "oov_std": 0.01,
        "unit_norm": True,
        "null_token": True,
    },
    max_epochs=3,
    patience=0,
    seed=1,
)
PARAMS = CONFIG.flat()


class Killed(BaseException):
    """Stands for kill -9: nothing after it is run."""


def epoch(number: int) -> EpochRecord:
    return EpochRecord(number, 1 / number, 0.5, None, None, None, 0.9, 0.6, 3.5, 0.5, 4.1, 2.0, 99)


def record(key: str, epochs: int = 3) -> TrialRecord:
    history = tuple(epoch(number) for number in range(1, epochs + 1))
    return TrialRecord(key, CONFIG.as_dict(), 100, history, {"data": "d"})


@pytest.fixture(scope="module")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "mlflow.db"
    MlflowClient(f"sqlite:///{path}")
    return path


@pytest.fixture
def state(empty_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    folder = tmp_path / "state"
    folder.mkdir()
    shutil.copy(empty_database, folder / "mlflow.db")
    return folder


def runs(state: Path, condition: str = "", uri: str | None = None) -> list[Run]:
    client = MlflowClient(uri or f"sqlite:///{state / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("act-nli")
    assert experiment is not None
    return list(client.search_runs([experiment.experiment_id], condition))


def children(state: Path, uri: str | None = None) -> dict[str, Run]:
    nested = [run for run in runs(state, uri=uri) if "mlflow.parentRunId" in run.data.tags]
    by_key = {run.data.tags["trial_key"]: run for run in nested}
    assert len(by_key) == len(nested), "a trial has two nested runs"
    return by_key


def steps(state: Path, run: Run, metric: str = "dev_loss", uri: str | None = None) -> list[int]:
    client = MlflowClient(uri or f"sqlite:///{state / 'mlflow.db'}")
    return [point.step for point in client.get_metric_history(run.info.run_id, metric)]


def statuses(state: Path) -> dict[str, str]:
    return {key: run.info.status for key, run in children(state).items()}


def parents(state: Path) -> list[Run]:
    return [run for run in runs(state) if "mlflow.parentRunId" not in run.data.tags]


def started(state: Path, group: str = "0123456789") -> Tracker:
    tracker = Tracker("sweep", group, {"git_commit": "c0ffee"}, state)
    tracker.start()
    return tracker


def train(tracker: Tracker, key: str, first: int = 1, last: int = 3) -> None:
    tracker.trial_started(key, PARAMS, f"decomposable_attention-{key}")
    for number in range(first, last + 1):
        tracker.trial_epoch(key, epoch(number))


def test_nested_runs_with_params_and_a_series_per_metric(state: Path) -> None:
    tracker = started(state)
    train(tracker, "a")
    tracker.trial_finished("a")
    tracker.finish("FINISHED", {"best": {"dev_accuracy": 0.75}, "trials": 1, "absent": None})

    (parent,) = parents(state)
    assert parent.info.status == "FINISHED"
    assert parent.info.run_name == "sweep-01234567"
    assert parent.data.tags["git_commit"] == "c0ffee"
    assert parent.data.metrics == {"best.dev_accuracy": 0.75, "trials": 1}
    run = children(state)["a"]
    assert run.info.status == "FINISHED"
    assert run.info.run_name == "decomposable_attention-a"
    assert run.data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert run.data.params == {name: str(value) for name, value in PARAMS.items()}
    assert steps(state, run) == steps(state, run, "examples_per_second") == [1, 2, 3]
    assert run.data.metrics["train_loss"] == pytest.approx(1 / 3)
    assert "train_mean_steps" not in run.data.metrics
    assert not list((state / "drivers").rglob("*/*"))


def test_next_driver_continues_where_a_crash_stopped(state: Path) -> None:
    train(started(state), "a", last=2)
    train(started(state), "a", first=2)  # resumed from the checkpoint of epoch 1
    assert statuses(state) == {"a": "RUNNING"}
    shutil.rmtree(state / "drivers")  # not even the lock tells that the second one died
    third = started(state)
    assert statuses(state) == {"a": "KILLED"}
    train(third, "a", first=3)
    third.trial_finished("a")
    third.finish("FINISHED", {})
    assert statuses(state) == {"a": "FINISHED"}
    assert len(parents(state)) == 1
    assert steps(state, children(state)["a"]) == [1, 2, 3]


def test_a_finished_trial_that_is_run_again_keeps_one_series(state: Path) -> None:
    tracker = started(state)
    train(tracker, "a")
    tracker.trial_finished("a")
    train(tracker, "a")
    assert statuses(state) == {"a": "RUNNING"}
    tracker.trial_finished("a")
    assert statuses(state) == {"a": "FINISHED"}
    assert steps(state, children(state)["a"]) == [1, 2, 3]


def test_failed_trial_has_its_reason_until_it_is_run_again(state: Path) -> None:
    tracker = started(state)
    train(tracker, "a", last=1)
    tracker.trial_failed("a", "out of memory\nTraceback ...")
    assert statuses(state) == {"a": "FAILED"}
    assert children(state)["a"].data.tags["failure"] == "out of memory"
    tracker.finish("FAILED", {})
    assert parents(state)[0].info.status == "FAILED"
    again = started(state)
    train(again, "a", first=2)
    again.trial_finished("a")
    assert "failure" not in children(state)["a"].data.tags
    assert steps(state, children(state)["a"]) == [1, 2, 3]


def test_finish_ends_trials_still_running(state: Path) -> None:
    tracker = started(state)
    train(tracker, "a", last=1)
    tracker.finish("KILLED", {})
    assert statuses(state) == {"a": "KILLED"}
    assert parents(state)[0].info.status == "KILLED"


def test_reused_trial_is_written_once(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tracker = started(state)
    tracker.trial_reused(record("a"), PARAMS, "decomposable_attention-a")
    run = children(state)["a"]
    assert (run.info.status, run.data.tags["reused"]) == ("FINISHED", "true")
    assert steps(state, run) == [1, 2, 3]
    for later in (tracker, started(state)):
        monkeypatch.setattr(later._store, "client", None)  # any call would fail
        later.trial_reused(record("a"), PARAMS, "decomposable_attention-a")


def test_reuse_fills_in_what_a_killed_driver_left_out(state: Path) -> None:
    tracker = started(state)
    train(tracker, "a", first=3)  # epochs 1 and 2 were never seen here
    tracker.trial_finished("a")
    again = started(state)
    again.trial_reused(record("a"), PARAMS, "decomposable_attention-a")
    run = children(state)["a"]
    assert sorted(steps(state, run)) == [1, 2, 3]
    assert "reused" not in run.data.tags  # trained under this parent


def test_finished_with_its_record_is_complete(state: Path) -> None:
    tracker = started(state)
    train(tracker, "a", last=1)
    tracker.trial_finished("a", record("a", epochs=60))
    assert sorted(steps(state, children(state)["a"])) == list(range(1, 61))


def test_doubles_are_deleted_and_the_earliest_is_kept(state: Path) -> None:
    first, second = started(state), started(state)
    train(first, "a")
    train(second, "a")
    second.trial_started("b", PARAMS, "b")
    oldest = min(runs(state, "tags.trial_key = 'a'"), key=lambda run: run.info.start_time)
    parent = parents(state)[0]
    client = MlflowClient(f"sqlite:///{state / 'mlflow.db'}")
    client.create_run(parent.info.experiment_id, tags={"kind": "sweep", "group": "0123456789"})
    last = started(state)
    assert [run.info.run_id for run in parents(state)] == [parent.info.run_id]
    assert children(state)["a"].info.run_id == oldest.info.run_id
    last.finish("FINISHED", {})
    assert statuses(state) == {"a": "KILLED", "b": "KILLED"}


def test_another_sweep_closes_what_a_dead_driver_left(state: Path) -> None:
    alive, dead = started(state, "alive"), started(state, "dead")
    train(alive, "a", last=1)
    train(dead, "b", last=1)
    del dead  # frees its lock, as the end of its process would
    gc.collect()
    log_evaluation("evaluate", "x", {}, {"accuracy": 0.5}, state)
    assert statuses(state) == {"a": "RUNNING", "b": "KILLED"}
    found = {run.data.tags["group"]: run.info.status for run in parents(state)}
    assert found == {"alive": "RUNNING", "dead": "KILLED", "x": "FINISHED"}


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


def test_damaged_database_is_one_sentence(state: Path) -> None:
    (state / "mlflow.db").write_text("not a database, but long enough to be read as one" * 9)
    with pytest.raises(TrackingError, match=r"mlflow\.db; move it away, and the next run"):
        started(state)


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


def test_report_is_kept_whole_and_once(state: Path, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    (folder / "figures").mkdir(parents=True)
    (folder / "report.md").write_text("# Report\n")
    (folder / "figures" / "steps.png").write_bytes(b"\x89PNG")
    log_report(folder, {"test_accuracy": 0.5}, state)
    log_report(folder, {"test_accuracy": 0.6}, state)
    (run,) = runs(state)
    assert (run.info.status, run.data.tags["kind"]) == ("FINISHED", "report")
    assert run.data.metrics == {"test_accuracy": 0.6}
    assert set(provenance_tags()) <= set(run.data.tags)
    artifacts = state / "mlartifacts" / run.info.run_id / "artifacts"
    assert (artifacts / "figures" / "steps.png").read_bytes() == b"\x89PNG"
    (folder / "report.md").write_text("# Another\n")
    log_report(folder, {}, state)
    assert len(runs(state)) == 2


def test_evaluation_is_flattened_and_kept_once(state: Path) -> None:
    figures = {"decomposable_attention": {"test_accuracy_mean": 0.5, "test_mean_steps": None}}
    for _ in range(2):
        log_evaluation("evaluate", "abc", {"data_digest": "d1"}, figures, state)
    (run,) = runs(state)
    assert run.data.metrics == {"decomposable_attention.test_accuracy_mean": 0.5}
    assert steps(state, run, "decomposable_attention.test_accuracy_mean") == [0]
    assert run.data.tags["data_digest"] == "d1"


def test_provenance_names_the_commit_and_the_versions() -> None:
    tags = provenance_tags()
    assert set(tags) == {"git_commit", "python_version", "torch_version", "ray_version"}
    assert re.fullmatch(r"[0-9a-f]{40}(-dirty)?|unknown", tags["git_commit"])


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True)


def test_provenance_is_dirty_for_changed_code_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracking, "__file__", str(tmp_path / "tune" / "tracking.py"))
    for name in ("tune/code.py", "dvc.lock", "artefacts/report/report.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1\n")
    assert provenance_tags()["git_commit"] == "unknown"
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    (tmp_path / "dvc.lock").write_text("2\n")
    (tmp_path / "artefacts/report/report.md").unlink()
    (tmp_path / "untracked").write_text("1\n")
    assert len(provenance_tags()["git_commit"]) == 40
    (tmp_path / "tune/code.py").write_text("2\n")
    assert provenance_tags()["git_commit"].endswith("-dirty")


def whole_sweep(state: Path, log: Callable[[], None] = lambda: None) -> None:
    tracker = started(state)
    tracker.trial_reused(record("a", epochs=2), PARAMS, "a")
    for key in "bc":
        train(tracker, key, last=2)
        log()
        if key == "b":
            tracker.trial_finished(key)
        else:
            tracker.trial_failed(key, "diverged")
    tracker.finish("FINISHED", {"trials": 3})


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "after"])
def test_crash_at_every_write_is_mended_by_the_next_sweep(
    empty_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    countdown = [0]

    def cut(name: str) -> Callable[..., Any]:
        original = getattr(MlflowClient, name)

        def call(self: MlflowClient, *args: Any, **kwargs: Any) -> Any:
            countdown[0] -= 1
            if countdown[0] == 0 and moment == "before":
                raise Killed
            result = original(self, *args, **kwargs)
            if countdown[0] == 0:
                raise Killed
            return result

        return call

    for name in WRITES:
        monkeypatch.setattr(MlflowClient, name, cut(name))
    crashes = 0
    while True:
        folder = tmp_path / str(crashes)
        folder.mkdir()
        shutil.copy(empty_database, folder / "mlflow.db")
        countdown[0] = crashes + 1
        try:
            whole_sweep(folder)
            break
        except Killed:
            crashes += 1
        gc.collect()
        countdown[0] = 0
        whole_sweep(folder)
        assert [run.info.status for run in parents(folder)] == ["FINISHED"], crashes
        assert statuses(folder) == {"a": "FINISHED", "b": "FINISHED", "c": "FAILED"}, crashes
        for run in children(folder).values():
            assert steps(folder, run) == [1, 2], crashes
            assert len(run.data.params) == len(PARAMS), crashes
    assert crashes >= 18


SCRIPT = """
    import os, signal, sys
    from pathlib import Path
    sys.path.insert(0, {root!r})
    from tests.tune.test_tracking import provenance_tags, started, train
    assert provenance_tags() and "ray" not in sys.modules
    tracker = started(Path(sys.argv[1]), sys.argv[2])
    train(tracker, "done")
    tracker.trial_finished("done")
    train(tracker, "cut", last=2)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_driver(state: Path, group: str) -> subprocess.CompletedProcess[str]:
    script = textwrap.dedent(SCRIPT.format(root=str(ROOT)))
    command = [sys.executable, "-c", script, str(state), group]
    environment = {name: v for name, v in os.environ.items() if not name.startswith("MLFLOW_")}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.slow
def test_real_kill_from_a_cold_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    state = tmp_path / "state"
    killed = killed_driver(state, "0123456789")
    assert killed.returncode == -signal.SIGKILL
    assert killed.stdout + killed.stderr == ""  # MLflow and its migrations are silent
    assert {path.name for path in tmp_path.iterdir()} == {"state"}
    assert statuses(state) == {"done": "FINISHED", "cut": "RUNNING"}
    assert killed_driver(state, "other").returncode == -signal.SIGKILL
    tracker = started(state)
    train(tracker, "cut", first=2)
    tracker.trial_finished("cut")
    tracker.finish("FINISHED", {})
    nested = [run for run in runs(state) if "mlflow.parentRunId" in run.data.tags]
    found = sorted((run.data.tags["trial_key"], run.info.status) for run in nested)
    assert found == [
        ("cut", "FINISHED"),
        ("cut", "KILLED"),
        ("done", "FINISHED"),
        ("done", "FINISHED"),
    ]
    assert sorted(run.info.status for run in parents(state)) == ["FINISHED", "KILLED"]
    (cut,) = (r for r in nested if r.data.tags["trial_key"] == "cut" and r.info.status != "KILLED")
    assert steps(state, cut) == [1, 2, 3]


@pytest.mark.slow
def test_two_cold_drivers_share_one_database(tmp_path: Path) -> None:
    script = textwrap.dedent(SCRIPT.format(root=str(ROOT)))
    command = [sys.executable, "-c", script, str(tmp_path / "state")]
    drivers = [subprocess.Popen([*command, group]) for group in ("one", "two")]
    assert [driver.wait() for driver in drivers] == [-signal.SIGKILL] * 2
    with sqlite3.connect(tmp_path / "state" / "mlflow.db") as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (6,)


@pytest.fixture
def server(empty_database: Path, tmp_path: Path) -> Iterator[tuple[str, Callable[[bool], None]]]:
    """Address of a real server, and a switch that stops or starts it."""
    shutil.copy(empty_database, tmp_path / "server.db")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--workers", "1", "--port", str(port)]
    command += ["--backend-store-uri", f"sqlite:///{tmp_path / 'server.db'}"]
    command += ["--artifacts-destination", str(tmp_path / "served")]
    processes: list[subprocess.Popen[bytes]] = []

    def switch(on: bool) -> None:
        if on:
            with (tmp_path / "server.log").open("ab") as output:
                process = subprocess.Popen(
                    command, stdout=output, stderr=output, start_new_session=True, cwd=tmp_path
                )
            processes.append(process)
        else:
            os.killpg(processes.pop().pid, signal.SIGKILL)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if (probe.connect_ex(("127.0.0.1", port)) == 0) is on:
                    return
            time.sleep(0.2)
        raise TimeoutError((tmp_path / "server.log").read_text())

    switch(True)
    yield f"http://127.0.0.1:{port}", switch
    for process in processes:
        os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.timeout(400)  # starts a server twice, each up to two minutes on a busy machine
def test_real_server_that_goes_away_and_comes_back(
    server: tuple[str, Callable[[bool], None]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    address, switch = server
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    state = tmp_path / "state"
    tracker = started(state)
    train(tracker, "a", last=1)
    switch(False)
    begin = time.monotonic()
    train(tracker, "a", first=2)
    tracker.trial_finished("a")
    train(tracker, "b")
    tracker.trial_finished("b")
    assert time.monotonic() - begin < 30  # one call with its retries, and not ten
    assert len(caplog.records) == 1
    switch(True)
    tracker.finish("FINISHED", {"trials": 2})
    nested = children(state, uri=address)
    assert {key: run.info.status for key, run in nested.items()} == {
        "a": "FINISHED",
        "b": "FINISHED",
    }
    for run in nested.values():
        assert steps(state, run, uri=address) == [1, 2, 3]
    folder = tmp_path / "report"
    folder.mkdir()
    (folder / "report.md").write_text("# Report\n")
    log_report(folder, {}, state)
    assert len(list((tmp_path / "served").rglob("report.md"))) == 1
    assert capfd.readouterr().out == ""
