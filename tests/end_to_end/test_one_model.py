"""`dvc exp run -S models=NAME`: one model through all stages, with steps or without."""

import csv
import json
import shutil
from pathlib import Path

import pytest

from tests.end_to_end.conftest import SharedRay
from tests.end_to_end.project import TINY, Project

pytestmark = pytest.mark.slow(minutes=2)

DA, AA = "decomposable_attention", "adaptive_attention"
OFF = {"fidelity.models": {}, "sizes.models": [], "sequences.tasks": {}, "cloze.question_types": {}}
OFF |= {"cloze_data.source": "none", "halting.mechanisms": {}}


def rows(project: Project, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((project.folder / "artifacts" / name).open()))


def test_each_of_two_models_alone(
    undisturbed: Project, shared_ray: SharedRay, tmp_path: Path
) -> None:
    project = undisturbed.copy(tmp_path / "project", **shared_ray.settings)
    project.configure(TINY | OFF)
    shutil.copy(project.folder / "params.yaml", project.folder / "conf" / "base.yaml")
    for model, switches in ((DA, ()), (AA, ("-S", "+halting.mechanisms.dact={}"))):
        status, output = project.run("dvc", "exp", "run", "-S", f"models={model}", *switches)
        assert status == 0, output
        assert "sweep: 0 of 2 trials to run" in output
        (compared,) = rows(project, "evaluate/paired.csv")
        assert (compared["model"], compared["reference"]) == ("lexical_baseline", model)
        report = (project.folder / "artifacts/report/report.md").read_text()
        steps = model == AA
        assert ("Fixed vs adaptive steps" in report) == steps
        assert ("Halting mechanisms" in report) == steps
        for name in ("ablate/test.csv", "ablate/gains.csv", "halting/points.csv"):
            assert bool(rows(project, name)) == steps
        assert list(json.loads((project.folder / "artifacts/trace/summary.json").read_text())) == (
            [AA] if steps else []
        )
