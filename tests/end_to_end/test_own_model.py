"""docs/extending.md: the blocks of its model are complete, and its commands run to the end."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.end_to_end.project import ROOT, Project

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
NEW = re.compile(r"^```python\n# (actmodels/models/\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
END = re.compile(r"^```python\n# (\S+): at its end\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"^```python\n# (\S+): in MODELS\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHECKS = """
from tests.model_checks import CHECKS
from tests.samples import sample_trial
for check in CHECKS:
    check(sample_trial("pair_reader"))
    check(sample_trial("pair_reader_ponder_net"))
"""
SMALL = (
    *("study=none", "sweep.only=[pair_reader]", "sweep.max_epochs=1", "cluster.dashboard=false"),
    *("corpus.captions.train=900", "corpus.captions.dev=120", "corpus.captions.test=120"),
    *("retrain.seeds=[1,2]", "retrain.max_epochs=2", "ablate.dev_steps=3", "ablate.test_steps=[2]"),
    "trace.per_label=2",
)


def add_model(folder: Path) -> None:
    """Write the blocks of the page into a copy of the project."""
    ((new, text),) = NEW.findall(PAGE)
    (folder / new).write_text(text, encoding="utf-8")
    ((end, text),) = END.findall(PAGE)
    path = folder / end
    path.write_text(f"{path.read_text(encoding='utf-8')}\n\n{text}", encoding="utf-8")
    ((line, text),) = LINE.findall(PAGE)
    path, start = folder / line, "MODELS: dict[str, Architecture] = {\n"
    old = path.read_text(encoding="utf-8")
    assert start in old
    path.write_text(old.replace(start, start + text), encoding="utf-8")


@pytest.mark.slow(minutes=1)
def test_a_model_of_three_files_runs_to_the_end(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    add_model(project.folder)
    status, output = project.run("python", "-c", CHECKS)
    assert status == 0, output
    train, predict = re.findall(r"^act-nli (?:use|predict) .*pair_reader.*$", PAGE, re.M)
    use = ("python", "-m", "pipeline", *shlex.split(train)[1:], *SMALL)
    status, output = project.run(*use)
    assert status == 0, output
    status, output = project.run("dvc", "repro")
    assert status == 0 and "sweep: 2 of 2 trials to run" in output, output
    artifacts = project.folder / "artifacts"
    for stage in ("ablate", "trace"):
        assert json.loads((artifacts / stage / "summary.json").read_text()) != {}, stage
    report = (artifacts / "report" / "report.md").read_text(encoding="utf-8")
    assert "Pair Reader" in report and "Fixed vs adaptive steps" in report
    words = shlex.split(predict)[1:]
    status, output = project.run("python", "-m", "pipeline", *words)
    assert status == 0 and "step 1" in output and "premise" in output, output
