"""A changed grid runs only the changed trials; no result is reused for another setting."""

from pathlib import Path

import pytest

from tests.end_to_end.conftest import SharedRay
from tests.end_to_end.project import Project

pytestmark = pytest.mark.slow(minutes=3)

RATES = "sweep.models.decomposable_attention.grid.learning_rate"


def rates(project: Project) -> list[str]:
    """Return the learning rates of decomposable_attention in the order of the sweep's table."""
    header, *lines = (project.folder / "artifacts/sweep/trials.csv").read_text().splitlines()
    column = header.split(",").index("learning_rate")
    rows = [line.split(",") for line in lines]
    return [row[column] for row in rows if row[1] == "decomposable_attention"]


def test_one_changed_value_or_model_trains_the_changed_trials(
    undisturbed: Project, shared_ray: SharedRay, tmp_path: Path
) -> None:
    project = undisturbed.copy(tmp_path / "project", **shared_ray.settings)
    before = project.finished()
    project.configure({RATES: [0.001, 0.004]})
    assert "sweep: 1 of 4 trials to run" in project.repro("sweep")
    assert rates(project) == ["0.001", "0.004"]
    assert len(project.finished() - before) == 1
    parents = project.runs("sweep")
    assert len(parents) == 2
    assert all(len(project.trials_of(parent)) == 4 for parent in parents)

    # Restored: nothing to train, and a byte-identical table.
    project.configure({RATES: [0.001, 0.002]})
    project.repro("sweep")
    assert project.results() == undisturbed.results()
    assert len(project.finished()) == 5

    path = project.folder / "actmodels" / "models" / "decomposable_attention.py"
    text = path.read_text()
    path.write_text(text + "\n# a comment\n")
    assert "sweep: 0 of 4 trials to run" in project.repro("sweep")
    path.write_text(text + "\nCHANGED = True\n")
    assert "sweep: 2 of 4 trials to run" in project.repro("sweep")


def test_an_edit_between_a_kill_and_the_rerun(
    killed: Project, shared_ray: SharedRay, tmp_path: Path
) -> None:
    """Ray's own restore would run the old values and report them under the new ones."""
    project = killed.copy(tmp_path / "project", **shared_ray.settings)
    project.configure({RATES: [0.001, 0.008]})
    project.repro("sweep")
    assert rates(project) == ["0.001", "0.008"]
    _, *lines = (project.folder / "artifacts/sweep/trials.csv").read_text().splitlines()
    keys = {line.split(",")[0] for line in lines}
    assert len(keys) == 4 and keys <= project.finished()
    statuses = {run.info.status for run in project.runs("trial") + project.runs("sweep")}
    assert "RUNNING" not in statuses
