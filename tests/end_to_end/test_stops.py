"""A sweep that ends with its best is a success for DVC, and the same command continues it."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.end_to_end.project import Project, in_mid_sweep

pytestmark = [pytest.mark.slow(minutes=2), pytest.mark.timeout(1700)]
ACT_NLI = ("sh", "pipeline/act-nli")


def test_a_sweep_with_a_time_limit_goes_on(
    prepared: Project, undisturbed: Project, tmp_path: Path
) -> None:
    """`sweep stop` ends it here at a known moment, by the request that a time limit writes."""
    project = prepared.copy(tmp_path / "project")
    assert project.run(*ACT_NLI, "use", "sweep.time_limit=9h")[0] == 0
    with in_mid_sweep(project, project.saved) as command:
        stop = (*ACT_NLI, "sweep", "stop")
        subprocess.run(stop, cwd=project.folder, env=project.environment(), check=True)
        assert command.wait(240) == 0, project.log()
    sentence = "the user ended the sweep: "
    assert f"sweep: {sentence}" in project.log()
    summary = json.loads(project.results()["summary.json"])
    assert summary["ended"].startswith(sentence) and "of 4 trials" in summary["ended"]
    (parent,) = project.runs("sweep")
    assert parent.data.tags["stopped"] == summary["ended"]
    assert "trials to run" in project.repro("sweep")
    assert project.results() == undisturbed.results()
    assert "stopped" not in project.runs("sweep")[0].data.tags
    assert "trials to run" not in project.repro("sweep")
