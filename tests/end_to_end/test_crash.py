"""kill -9 of anything in the middle of a sweep: the same command again finishes it.

The results are those of an undisturbed sweep to the byte, and MLflow has one finished run for
each grid point.
"""

import os
import re
import signal
from pathlib import Path

import psutil
import pytest

from tests.end_to_end.project import Project, processes, wait_for

pytestmark = pytest.mark.slow

VICTIMS = {
    "driver": lambda name, line: "-m pipeline.sweep" in line and "/bin/sh" not in line,
    "worker": lambda name, line: "train_trial" in line or "ImplicitFunc" in line,
    "ray head": lambda name, line: name == "gcs_server",
}


def in_the_middle(project: Project) -> bool:
    """A trial has finished, and one in progress has been saved."""
    saved = (project.folder / "state" / "ray" / "checkpoints").glob("[0-9a-f]*.pt")
    return bool(project.finished()) and any(saved)


def check_complete(project: Project, undisturbed: Project) -> None:
    assert project.results() == undisturbed.results()
    (parent,) = project.runs("sweep")
    assert parent.info.status == "FINISHED"
    trials = project.trials_of(parent)
    assert len(trials) == 4
    assert {run.info.status for run in trials} == {"FINISHED"}
    assert {run.data.tags["trial_key"] for run in trials} == project.finished()
    assert len(project.runs("trial")) == 4


@pytest.mark.parametrize("victim", ["driver", "dvc", "worker", "ray head"])
def test_killed_in_mid_sweep(
    victim: str, prepared: Project, undisturbed: Project, tmp_path: Path
) -> None:
    project = prepared.copy(tmp_path / "project")
    command = project.start("dvc", "repro", "sweep")
    try:
        wait_for(lambda: in_the_middle(project) or command.poll() is not None, "half a sweep")
        assert command.poll() is None, (project.folder / "command.log").read_text()
        before = project.finished()
        if victim == "dvc":
            command.kill()  # its driver goes on as an orphan; the next command waits for it
        else:
            (found, *_) = processes(command.pid, VICTIMS[victim])
            os.kill(found.pid, signal.SIGKILL)
        status = command.wait(240)
        if victim == "worker":
            assert status == 0, (project.folder / "command.log").read_text()
        else:
            assert status != 0
            assert not (project.folder / "artefacts" / "sweep" / "trials.csv").exists()
            assert len(project.finished()) < 4
        output = project.repro("sweep")
    finally:
        kill_group(command.pid)
    if victim == "dvc":
        # unless the orphan had ended by then: no trial may be run by both
        waited = "sweep: waiting for another run in this folder to end" in output
        assert waited or "sweep: 0 of 4 trials to run" in output, output
    elif victim != "worker":
        left = int(re.search(r"sweep: (\d) of 4 trials to run", output)[1])  # type: ignore[index]
        assert left <= 4 - len(before)
    check_complete(project, undisturbed)


def kill_group(group: int) -> None:
    """End whatever a test left running."""
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == group:
                process.kill()
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue


def test_ctrl_c_ends_cleanly_and_goes_on(
    prepared: Project, undisturbed: Project, tmp_path: Path
) -> None:
    project = prepared.copy(tmp_path / "project")
    command = project.start("dvc", "repro", "sweep")
    try:
        wait_for(lambda: in_the_middle(project) or command.poll() is not None, "half a sweep")
        os.killpg(command.pid, signal.SIGINT)  # as a terminal does: to all of the foreground
        status = command.wait(120)
    finally:
        kill_group(command.pid)
    output = (project.folder / "command.log").read_text()
    assert status != 0
    assert "interrupted; run the same command again to go on" in output
    assert "Traceback" not in output
    assert {run.info.status for run in project.runs("sweep")} == {"KILLED"}
    assert "RUNNING" not in {run.info.status for run in project.runs("trial")}
    project.repro("sweep")
    check_complete(project, undisturbed)
