"""docs/study.patch is all that a new study needs."""

from pathlib import Path

import pytest

from tests.end_to_end.project import ROOT, TINY, Project


@pytest.mark.slow(minutes=3)
def test_a_patch_adds_a_study(whole: Project, tmp_path: Path) -> None:
    project = whole.copy(tmp_path / "project")
    project.git("checkout", "-q", "params.yaml")
    project.git("apply", str(ROOT / "docs" / "study.patch"))
    study = {"widths.seeds": [1], "widths.max_epochs": 1, "widths.widths": [4, 8]}
    project.configure(TINY | study)
    output = project.repro("report")
    assert "sweep: 0 of 4 trials to run" in output  # what was trained before counts as before
    lines = (project.folder / "artefacts/widths/points.csv").read_text().splitlines()
    assert lines[0] == "model,width,seeds,dev_accuracy_mean,dev_accuracy_sd"
    assert [line.split(",")[:3] for line in lines[1:]] == [
        ["decomposable_attention", "4", "1"],
        ["decomposable_attention", "8", "1"],
    ]
    report = (project.folder / "artefacts/report/report.md").read_text()
    assert "## Decomposable Attention at other widths" in report
    (run,) = project.runs("widths")
    assert run.info.status == "FINISHED" and len(project.trials_of(run)) == 2
