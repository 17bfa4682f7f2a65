"""The example of docs/extending.md is complete: it adds a working study."""

import re
from pathlib import Path

import pytest

from tests.end_to_end.project import ROOT, TINY, Project

BLOCK = re.compile(r"^```(\w+)\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def apply(kind: str, text: str, block: str) -> str:
    """Return a file's text with a block of the page applied as a diff, or appended."""
    if kind != "diff":
        return text + block
    for hunk in block.split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] == " ")
        assert text.count(before) == 1, before
        text = text.replace(before, "".join(line[1:] for line in lines))
    return text


@pytest.mark.slow(minutes=1)
def test_the_page_adds_a_study(undisturbed: Project, tmp_path: Path) -> None:
    project = undisturbed.copy(tmp_path / "project")
    project.git("checkout", "-q", "params.yaml")
    blocks = BLOCK.findall((ROOT / "docs" / "extending.md").read_text())
    for kind, name, block in blocks:
        path = project.folder / name
        path.write_text(apply(kind, path.read_text() if path.exists() else "", block))
    study = {"widths.seeds": [1], "widths.max_epochs": 1, "widths.widths": [4, 8]}
    project.configure(TINY | study)
    output = project.repro("widths")
    assert "sweep: 0 of 4 trials to run" in output  # existing trials are reused
    lines = (project.folder / "artifacts/widths/points.csv").read_text().splitlines()
    assert lines[0] == "model,width,seeds,dev_accuracy_mean,dev_accuracy_sd"
    assert [line.split(",")[:3] for line in lines[1:]] == [
        ["decomposable_attention", "4", "1"],
        ["decomposable_attention", "8", "1"],
    ]
    (run,) = project.runs("widths")
    assert run.info.status == "FINISHED" and len(project.trials_of(run)) == 2
