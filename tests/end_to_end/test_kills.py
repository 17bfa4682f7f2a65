"""Kills, signals, edits and corrupt files during a sweep: the same command completes it.

The results are byte-identical to those of an undisturbed sweep, and MLflow has one finished run
per grid point. tests/tune/test_kills.py kills a driver between any two of its writes.
"""

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from subprocess import Popen

import pytest

from actmodels.errors import INTERRUPTED
from tests.end_to_end.project import (
    Project,
    in_mid_sweep,
    kill_session,
    of_session,
    processes,
    wait_for,
)

pytestmark = [pytest.mark.slow(minutes=4), pytest.mark.timeout(1700)]
Command = Popen[str]


def check_complete(project: Project, undisturbed: Project) -> None:
    assert project.results() == undisturbed.results()
    (parent,) = project.runs("sweep")
    assert parent.info.status == "FINISHED"
    trials = project.trials_of(parent)
    assert len(trials) == 4
    assert {run.info.status for run in trials} == {"FINISHED"}
    assert {run.data.tags["trial_key"] for run in trials} == project.finished()
    assert len(project.runs("trial")) == 4


def killed(part: str) -> Callable[[Command], None]:
    """Return a function that kills a part of a running command."""
    return lambda command: processes(command.pid, part)[0].kill()


def signaled(number: signal.Signals) -> Callable[[Command], None]:
    """Return a function that signals a command.

    A terminal signals all foreground processes; Slurm and systemd also those of Ray.
    """

    def send(command: Command) -> None:
        if number == signal.SIGTERM:
            for process in of_session(command.pid):
                process.send_signal(number)
        else:
            os.killpg(command.pid, number)

    return send


def corrupt(project: Project) -> Iterator[str]:
    """Edit a record and truncate a checkpoint; yield what the next command says of each."""
    record, *_ = (project.folder / "state" / "trials").glob("*.json")
    record.write_text(re.sub(r'"dev_accuracy": [\d.]+', '"dev_accuracy": 0.99', record.read_text()))
    checkpoint, *_ = project.saved()
    checkpoint.write_bytes(checkpoint.read_bytes()[: checkpoint.stat().st_size // 2])
    for path, consequence in ((record, "is run again"), (checkpoint, "starts over")):
        yield f"quarantined as {path.name}.corrupt, the trial {consequence}"


def saved_since(project: Project, start: float) -> list[Path]:
    return [path for path in project.saved() if path.stat().st_mtime > start]


RESUME = "run the same command again"
DISTURBANCES: list[tuple[Callable[[Command], None], str]] = [
    (killed("stage"), ""),
    (killed("raylet"), RESUME),  # Ray itself would wait forever for another node
    *((signaled(n), INTERRUPTED.format(n.name)) for n in (signal.SIGINT, signal.SIGHUP)),
    (signaled(signal.SIGTERM), INTERRUPTED.format("SIGTERM")),
]


@pytest.mark.smoke
def test_any_death_and_corrupt_files(
    prepared: Project, undisturbed: Project, tmp_path: Path
) -> None:
    project = prepared.copy(tmp_path / "project", PYTHONPATH="")
    (project.folder / "random.py").write_text("raise ImportError")  # a module of the user
    with in_mid_sweep(project, lambda: project.finished() and project.saved()) as command:
        kill_session(command.pid)
    assert not (project.folder / "artifacts" / "sweep" / "trials.csv").exists()
    for disturb, message in DISTURBANCES:
        with in_mid_sweep(project, partial(saved_since, project, time.time())) as command:
            disturb(command)
            end = time.monotonic()
            assert command.wait(120) != 0
            assert time.monotonic() - end < 60
            wait_for(lambda: not [*of_session(command.pid)], "the end of its processes", 120)
        output = project.log()
        assert message in output and "Traceback" not in output, output
        assert "core_worker" not in output, output  # Ray's own lines
        if message.startswith("interrupted"):
            # Ray may have ended the driver before it ended its runs; then any next command does
            assert project.run("sh", "pipeline/act-nli", "sweep", "status")[0] == 0
            assert "RUNNING" not in {run.info.status for run in project.all_runs()}
    expected = [*corrupt(project)]
    output = project.repro("sweep")
    remaining = re.search(r"sweep: (\d) of 4 trials to run", output)
    assert remaining and int(remaining[1]) > 0
    assert all(sentence in output for sentence in expected), (expected, output)
    check_complete(project, undisturbed)


@pytest.mark.smoke
def test_a_killed_worker_is_replaced_despite_edits(
    prepared: Project, undisturbed: Project, tmp_path: Path
) -> None:
    """A worker that starts after an edit runs the old code, and DVC does not record the new one."""
    project = prepared.copy(tmp_path / "project")
    edited = [project.folder / name for name in ("actmodels/training.py", "params.yaml")]
    before = [path.read_text() for path in edited]
    with in_mid_sweep(project, project.saved) as command:
        wrong = before[0].replace("self.loss, self.accuracy", "self.loss, 1000 + self.accuracy")
        assert wrong != before[0]
        edited[0].write_text(wrong)
        project.configure({"sweep.max_epochs": 9})
        processes(command.pid, "worker")[0].kill()
        assert command.wait(240) != 0
    assert "error: sweep: its inputs changed while it ran (" in project.log()
    assert "params.yaml: sweep" in project.log() and "actmodels/training.py" in project.log()
    for path, text in zip(edited, before, strict=True):
        path.write_text(text)
    assert "sweep: 0 of 4 trials to run" in project.repro("sweep")
    check_complete(project, undisturbed)
