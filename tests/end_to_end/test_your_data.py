"""`dvc exp run`: the first command of docs/your-data.md, for one model with steps, one without."""

import csv
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.project import ROOT, Project

DA, AA = "decomposable_attention", "adaptive_attention"
SHORT = "-S cluster.dashboard=false -S retrain.seeds=[1]"
HALTING = "study=halting -S halting.seeds=[1] -S halting.max_epochs=1"
TEST = "docs/examples/pairs/test.csv"


@pytest.mark.slow(minutes=5)
@pytest.mark.timeout(1700)
def test_own_pairs_with_each_of_two_models_alone(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    artifacts = project.folder / "artifacts"

    def rows(name: str) -> list[dict[str, str]]:
        return list(csv.DictReader((artifacts / name).open(encoding="utf-8")))

    def summary(stage: str) -> Any:
        return json.loads((artifacts / stage / "summary.json").read_text())

    page = (ROOT / "docs" / "your-data.md").read_text(encoding="utf-8")
    command = re.search(r"^```\n(dvc exp run .*?)\n```$", page, re.MULTILINE | re.DOTALL)
    assert command
    for model, switch in ((DA, "study=none"), (AA, HALTING)):
        alone = f"{command[1].replace('study=none', switch)} -S models={model} {SHORT}"
        status, output = project.run("bash", "-c", alone, timeout=1500)
        assert status == 0, output
        if model == DA:
            assert all(digest in output for digest in summary("corpus")["sha256"].values())
        else:
            assert "Stage 'corpus' didn't change, skipping" in output
        report = (artifacts / "report" / "report.md").read_text()
        assert "own files, 12 pairs" in report
        (compared,) = rows("evaluate/paired.csv")
        assert (compared["model"], compared["reference"]) == ("lexical_baseline", model)
        steps = model == AA
        assert ("Fixed vs adaptive steps" in report) == steps
        assert ("Halting mechanisms" in report) == steps
        assert (artifacts / "studies" / "halting" / "points.csv").is_file() == steps
        for name in ("ablate/test.csv", "ablate/gains.csv"):
            assert bool(rows(name)) == steps
        assert list(summary("trace")) == ([AA] if steps else [])
    assert [split["labeled"] for split in summary("corpus")["splits"].values()] == [12, 4, 4]
    predict = (sys.executable, "-m", "pipeline.predict", TEST, "--format", "csv")
    status, output = project.run(*predict, "--output", "artifacts/answers.csv")
    assert status == 0, output
    assert [(row["line"], row["reliable"]) for row in rows("answers.csv")] == [
        (str(line), "true") for line in (2, 3, 4, 5)
    ]
