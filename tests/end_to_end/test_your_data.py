"""The first command of docs/your-data.md trains on its 20 pairs; `predict` answers for a file."""

import csv
import io
import json
import re
import sys
from pathlib import Path

import pytest

from tests.end_to_end.project import ROOT, Project

TEST = "docs/examples/pairs/test.csv"


@pytest.mark.slow(minutes=3)
@pytest.mark.timeout(1700)
def test_the_command_of_the_page(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    page = (ROOT / "docs" / "your-data.md").read_text(encoding="utf-8")
    command = re.search(r"^```\n(dvc exp run .*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert command
    status, output = project.run("bash", "-c", command[1], timeout=1500)
    assert status == 0, output
    summary = json.loads((project.folder / "artifacts/corpus/summary.json").read_text())
    assert [split["labeled"] for split in summary["splits"].values()] == [12, 4, 4]
    assert all(digest in output for digest in summary["sha256"].values())
    report = (project.folder / "artifacts/report/report.md").read_text()
    assert "own files, 12 pairs" in report
    predict = (sys.executable, "-m", "pipeline.predict", TEST, "--format", "csv")
    status, table = project.run(*predict, "--output", "answers.csv")
    assert status == 0, table
    answers = (project.folder / "answers.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(answers)))
    assert [(row["line"], row["reliable"]) for row in rows] == [
        (str(line), "true") for line in (2, 3, 4, 5)
    ]
