"""Changes of grid, model and settings run only the changed trials, and reuse no other."""

import re
from pathlib import Path

import pytest

from tests.end_to_end.conftest import SharedRay
from tests.end_to_end.project import Project, in_mid_sweep

pytestmark = pytest.mark.slow(minutes=2)

RATES = "sweep.models.decomposable_attention.grid.learning_rate"


def rates(project: Project) -> list[str]:
    """Return the learning rates of decomposable_attention in the order of the sweep's table."""
    header, *lines = (project.folder / "artifacts/sweep/trials.csv").read_text().splitlines()
    column = header.split(",").index("learning_rate")
    rows = [line.split(",") for line in lines]
    return [row[column] for row in rows if row[1] == "decomposable_attention"]


def test_changes_after_a_kill_train_the_changed_trials(
    prepared: Project, undisturbed: Project, shared_ray: SharedRay, tmp_path: Path
) -> None:
    """Ray's own restore would run the old values and report them under the new ones."""
    project = prepared.copy(tmp_path / "project", **shared_ray.settings)
    with in_mid_sweep(project):
        pass
    project.configure({RATES: [0.001, 0.004]})
    project.repro("sweep")
    assert rates(project) == ["0.001", "0.004"]
    _, *lines = (project.folder / "artifacts/sweep/trials.csv").read_text().splitlines()
    keys = {line.split(",")[0] for line in lines}
    assert len(keys) == 4 and keys <= project.finished()
    statuses = {run.info.status for run in project.runs("trial") + project.runs("sweep")}
    assert "RUNNING" not in statuses

    # the first grid again: its table is byte-identical
    project.configure({RATES: [0.001, 0.002]})
    project.repro("sweep")
    assert project.results() == undisturbed.results()
    assert len(project.finished()) == 5
    parents = project.runs("sweep")
    assert len(parents) == 2
    assert all(len(project.trials_of(parent)) == 4 for parent in parents)

    path = project.folder / "actmodels" / "models" / "decomposable_attention.py"
    text = path.read_text()
    path.write_text(text + "\n# a comment\n")
    assert "sweep: 0 of 4 trials to run" in project.repro("sweep")
    path.write_text(text + "\nCHANGED = True\n")
    assert "sweep: 2 of 4 trials to run" in project.repro("sweep")


def test_a_random_search_of_a_range_continues_after_a_kill(
    prepared: Project, shared_ray: SharedRay, tmp_path: Path
) -> None:
    project = prepared.copy(tmp_path / "project", **shared_ray.settings)
    project.configure(
        {
            RATES: {"min": 0.0005, "max": 0.01, "scale": "log"},
            **{"sweep.models.adaptive_attention.grid.dropout": {"min": 0, "max": 0.4, "step": 0.1}},
            **{"sweep.search": "random", "sweep.trials": 2},
        }
    )
    with in_mid_sweep(project):
        pass
    before = project.finished()
    status, output = project.run("python", "-m", "pipeline", "sweep", "status")
    assert status == 0 and f"4 trials: {len(before)} finished" in output, output
    status, output = project.run("python", "-m", "pipeline", "sweep", "plan")
    assert status == 0 and f"4 trials: {len(before)} reused" in output, output
    assert re.search(r"\ntime: [\d.]+ s with \d+ at the same time\nmain memory: ", output), output
    assert f"sweep: {4 - len(before)} of 4 trials to run" in project.repro("sweep")
    assert len(project.finished()) == 4 and before < project.finished()
    drawn = [float(rate) for rate in rates(project)]
    assert drawn == sorted(drawn) and len(set(drawn)) == 2 and 0.0005 <= drawn[0] < drawn[1] <= 0.01
    runs = project.trials_of(project.runs("sweep")[0])
    assert {run.data.params["learning_rate"] for run in runs} >= set(rates(project))
