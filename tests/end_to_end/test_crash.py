"""kill -9 of any process during a sweep: the same command completes it.

The results are byte-identical to those of an undisturbed sweep, and MLflow has one finished run
per grid point.
"""

import os
import re
import signal
import time
from pathlib import Path

import pytest

from actmodels.errors import INTERRUPTED
from tests.end_to_end.conftest import SharedRay
from tests.end_to_end.project import Project, in_mid_sweep, of_session, processes, wait_for

pytestmark = pytest.mark.slow(minutes=7)


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
    """A project with its data and no trained trials, on the shared Ray."""
    return prepared.copy(tmp_path / "project", **shared_ray.settings)


@pytest.mark.smoke
def test_a_killed_driver_resumes(project: Project, undisturbed: Project) -> None:
    with in_mid_sweep(project) as command:
        before = project.finished()
        processes(command.pid, "stage")[0].kill()
        assert command.wait(240) != 0
    assert not (project.folder / "artifacts" / "sweep" / "trials.csv").exists()
    remaining = re.search(r"sweep: (\d) of 4 trials to run", project.repro("sweep"))
    assert remaining and 0 < int(remaining[1]) <= 4 - len(before)
    check_complete(project, undisturbed)


@pytest.mark.parametrize("part", ["gcs", "raylet"])
def test_a_part_of_a_local_ray_is_lost(part: str, prepared: Project, tmp_path: Path) -> None:
    """Ray itself would wait forever for another node, without a message."""
    project = prepared.copy(tmp_path / "project")
    # two long trials: short ones end before the loss is noticed
    one = ("decomposable_attention.grid.learning_rate", "adaptive_attention.grid.ponder_weight")
    grid = {f"sweep.models.{axis}": [0.001] for axis in one}
    project.configure(grid | {"sweep.max_epochs": 50})
    with in_mid_sweep(project, project.saved) as command:
        processes(command.pid, part)[0].kill()
        killed = time.monotonic()
        status = command.wait(240)
        taken = time.monotonic() - killed
    output = project.log()
    assert status != 0 or part == "gcs"  # without it the workers may finish all trials
    if status != 0:
        assert taken < 60
        assert "run the same command again" in output
        assert "raylet" not in output and "core_worker" not in output  # Ray's own lines
        project.repro("sweep")
    (parent,) = project.runs("sweep")
    assert parent.info.status == "FINISHED"
    assert [run.info.status for run in project.trials_of(parent)] == ["FINISHED"] * 2


def test_corrupt_state_is_quarantined_and_trained_again(
    project: Project, undisturbed: Project, shared_ray: SharedRay
) -> None:
    """An edited record and a truncated checkpoint of a killed driver."""
    with in_mid_sweep(project):
        pass
    # until Ray ends them, workers may overwrite the corrupt files
    wait_for(lambda: not processes(shared_ray.pid, "worker"), "the end of the workers")
    record, *_ = (project.folder / "state" / "trials").glob("*.json")
    record.write_text(re.sub(r'"dev_accuracy": [\d.]+', '"dev_accuracy": 0.99', record.read_text()))
    checkpoint, *_ = project.saved()
    checkpoint.write_bytes(checkpoint.read_bytes()[: checkpoint.stat().st_size // 2])
    output = project.repro("sweep")
    for path, consequence in ((record, "is run again"), (checkpoint, "starts over")):
        assert f"quarantined as {path.name}.corrupt, the trial {consequence}" in output
        assert path.with_name(f"{path.name}.corrupt").is_file()
    check_complete(project, undisturbed)


@pytest.mark.smoke
def test_a_killed_worker_is_replaced_despite_edits(
    project: Project, undisturbed: Project, shared_ray: SharedRay
) -> None:
    """A worker that starts after an edit runs the old code, and DVC does not record the new one."""
    edited = [project.folder / name for name in ("actmodels/training.py", "params.yaml")]
    before = [path.read_text() for path in edited]
    with in_mid_sweep(project) as command:
        wrong = before[0].replace("self.loss, self.accuracy", "self.loss, 1000 + self.accuracy")
        assert wrong != before[0]
        edited[0].write_text(wrong)
        project.configure({"sweep.max_epochs": 9})
        processes(shared_ray.pid, "worker")[0].kill()
        assert command.wait(240) != 0
    assert "error: sweep: its inputs changed while it ran (" in project.log()
    assert "params.yaml: sweep" in project.log() and "actmodels/training.py" in project.log()
    for path, text in zip(edited, before, strict=True):
        path.write_text(text)
    assert "sweep: 0 of 4 trials to run" in project.repro("sweep")
    check_complete(project, undisturbed)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_sweep_cleanly_and_it_resumes(
    number: signal.Signals, prepared: Project, undisturbed: Project, tmp_path: Path
) -> None:
    """Ctrl-C, a scheduler or systemd, and a terminal that was closed; with a module of the user."""
    project = prepared.copy(tmp_path / "project", PYTHONPATH="")
    (project.folder / "random.py").write_text("raise ImportError")
    with in_mid_sweep(project) as command:
        (stage,) = processes(command.pid, "stage")
        if number == signal.SIGTERM:  # Slurm and systemd send it to Ray's processes, too
            for process in of_session(command.pid):
                process.send_signal(number)
        else:
            os.killpg(command.pid, number)  # as a terminal does, to all foreground processes
        assert command.wait(120) != 0
        stage.wait(60)  # dvc may end first
    output = project.log()
    assert INTERRUPTED.format(number.name) in output.splitlines()
    assert "Traceback" not in output and "was killed" not in output
    # Ray may have ended the driver before it ended its runs; then any next command does
    assert project.run("sh", "pipeline/act-nli", "sweep", "status")[0] == 0
    assert {run.info.status for run in project.runs("sweep")} == {"KILLED"}
    assert "RUNNING" not in {run.info.status for run in project.all_runs()}
    project.repro("sweep")
    check_complete(project, undisturbed)
