"""kill -9 of anything in the middle of a sweep: the same command again finishes it.

The results are those of an undisturbed sweep to the byte, and MLflow has one finished run for
each grid point.
"""

import os
import re
import signal
import time
from pathlib import Path

import pytest

from tests.end_to_end.conftest import SharedRay
from tests.end_to_end.project import Project, in_mid_sweep, kill_session, processes, wait_for

pytestmark = pytest.mark.slow


def worker(_name: str, line: str) -> bool:
    return "ImplicitFunc" in line


def check_complete(project: Project, undisturbed: Project) -> None:
    assert project.results() == undisturbed.results()
    (parent,) = project.runs("sweep")
    assert parent.info.status == "FINISHED"
    trials = project.trials_of(parent)
    assert len(trials) == 4
    assert {run.info.status for run in trials} == {"FINISHED"}
    assert {run.data.tags["trial_key"] for run in trials} == project.finished()
    assert len(project.runs("trial")) == 4


@pytest.fixture
def project(prepared: Project, shared_ray: SharedRay, tmp_path: Path) -> Project:
    """With its data made and nothing trained, on the Ray that tests share."""
    return prepared.copy(tmp_path / "project", **shared_ray.settings)


@pytest.mark.smoke
def test_a_killed_driver_goes_on_from_what_was_saved(
    project: Project, undisturbed: Project
) -> None:
    with in_mid_sweep(project) as command:
        before = project.finished()
        driver = "python -m pipeline.sweep"
        processes(command.pid, lambda _, line: line.startswith(driver))[0].kill()
        assert command.wait(240) != 0
    assert not (project.folder / "artifacts" / "sweep" / "trials.csv").exists()
    left = re.search(r"sweep: (\d) of 4 trials to run", project.repro("sweep"))
    assert left and 0 < int(left[1]) <= 4 - len(before)
    check_complete(project, undisturbed)


@pytest.mark.smoke
def test_a_killed_worker_is_replaced(
    project: Project, undisturbed: Project, shared_ray: SharedRay
) -> None:
    with in_mid_sweep(project) as command:
        processes(shared_ray.pid, worker)[0].kill()
        assert command.wait(240) == 0, project.log()
    check_complete(project, undisturbed)


def test_the_orphan_of_a_killed_dvc_is_waited_for(project: Project, undisturbed: Project) -> None:
    with in_mid_sweep(project) as command:
        command.kill()
        command.wait()
        output = project.repro("sweep")
    # unless the orphan had ended by then: no trial may be run by both
    waited = "sweep: waiting for another run in this folder to end" in output
    assert waited or "sweep: 0 of 4 trials to run" in output, output
    check_complete(project, undisturbed)


@pytest.mark.parametrize("part", ["gcs_server", "raylet"])
def test_a_part_of_a_local_ray_is_lost(part: str, prepared: Project, tmp_path: Path) -> None:
    """Left to itself, Ray would wait for another node in silence, and for ever."""
    project = prepared.copy(tmp_path / "project")
    project.configure({"sweep.max_epochs": 50})  # fewer are trained before the loss is felt
    command = project.start("dvc", "repro", "sweep")
    try:
        wait_for(lambda: project.saved() or command.poll() is not None, "a checkpoint")
        processes(command.pid, lambda name, _: name == part)[0].kill()
        killed = time.monotonic()
        status = command.wait(240)
        taken = time.monotonic() - killed
    finally:
        kill_session(command.pid)
    output = project.log()
    if status != 0:  # else its orphaned workers were fast enough to train all
        assert taken < 60
        assert "run the same command again" in output
        assert "raylet" not in output and "core_worker" not in output  # Ray's own lines
        project.repro("sweep")
    (parent,) = project.runs("sweep")
    assert parent.info.status == "FINISHED"
    assert [run.info.status for run in project.trials_of(parent)] == ["FINISHED"] * 4


def test_damaged_state_is_told_and_trained_anew(
    project: Project, undisturbed: Project, shared_ray: SharedRay
) -> None:
    """A record that was edited and a checkpoint cut in half, left by a driver that was killed."""
    with in_mid_sweep(project):
        pass
    # until Ray ends them, the driver's workers may still save over what is damaged here
    wait_for(lambda: not processes(shared_ray.pid, worker), "the end of the driver's workers")
    record, *_ = (project.folder / "state" / "trials").glob("*.json")
    record.write_text(re.sub(r'"dev_accuracy": [\d.]+', '"dev_accuracy": 0.99', record.read_text()))
    checkpoint, *_ = project.saved()
    checkpoint.write_bytes(checkpoint.read_bytes()[: checkpoint.stat().st_size // 2])
    output = project.repro("sweep")
    for path, what in ((record, "is run again"), (checkpoint, "starts over")):
        assert f"set aside as {path.name}.corrupt, the trial {what}" in output
        assert path.with_name(f"{path.name}.corrupt").is_file()
    check_complete(project, undisturbed)


def test_edited_in_mid_sweep(project: Project, undisturbed: Project, shared_ray: SharedRay) -> None:
    """A worker that starts after the edit runs the old code, and DVC does not record the new."""
    edited = [project.folder / name for name in ("actmodels/evaluation.py", "params.yaml")]
    before = [path.read_text() for path in edited]
    with in_mid_sweep(project) as command:
        wrong = before[0].replace("self.loss, self.accuracy", "self.loss, 1000 + self.accuracy")
        assert wrong != before[0]
        edited[0].write_text(wrong)
        project.configure({"sweep.max_epochs": 9})
        processes(shared_ray.pid, worker)[0].kill()
        assert command.wait(240) != 0
    assert "error: sweep: its inputs changed while it ran (" in project.log()
    assert "params.yaml: sweep" in project.log() and "actmodels/evaluation.py" in project.log()
    for path, text in zip(edited, before, strict=True):
        path.write_text(text)
    assert "sweep: 0 of 4 trials to run" in project.repro("sweep")
    check_complete(project, undisturbed)


def test_ctrl_c_ends_cleanly_and_goes_on(
    prepared: Project, undisturbed: Project, tmp_path: Path
) -> None:
    project = prepared.copy(tmp_path / "project")
    with in_mid_sweep(project) as command:
        os.killpg(command.pid, signal.SIGINT)  # as a terminal does: to all of the foreground
        status = command.wait(120)
    output = project.log()
    assert status != 0
    assert "interrupted; run the same command again to go on" in output
    assert "Traceback" not in output
    assert {run.info.status for run in project.runs("sweep")} == {"KILLED"}
    assert "RUNNING" not in {run.info.status for run in project.runs("trial")}
    project.repro("sweep")
    check_complete(project, undisturbed)
