"""docs/extending.md: its blocks are complete, and its commands run to the end."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.end_to_end.project import ROOT, Project

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
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
    *("study=widths", "sweep.only=[pair_reader]", "sweep.max_epochs=1", "cluster.dashboard=false"),
    *("corpus.captions.train=900", "corpus.captions.dev=120", "corpus.captions.test=120"),
    *("retrain.seeds=[1,2]", "retrain.max_epochs=2", "ablate.dev_steps=3", "ablate.test_steps=[2]"),
    *("widths.model=pair_reader", "widths.seeds=[1]", "widths.max_epochs=1", "widths.widths=[4,8]"),
    "trace.per_label=2",
)


def extend(folder: Path) -> None:
    """Write the model and the study of the page into a copy of the project."""
    commands = re.findall(r"^cp .*docs/examples/.*$", PAGE, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        subprocess.run(command, shell=True, cwd=folder, check=True)
    assert (folder / "actmodels/models/pair_reader.py").is_file()
    assert (folder / "conf/study/widths.yaml").is_file()
    ((end, text),) = END.findall(PAGE)
    path = folder / end
    path.write_text(f"{path.read_text(encoding='utf-8')}\n\n{text}", encoding="utf-8")
    ((line, text),) = LINE.findall(PAGE)
    path, start = folder / line, "MODELS: dict[str, Architecture] = {\n"
    old = path.read_text(encoding="utf-8")
    assert start in old
    path.write_text(old.replace(start, start + text), encoding="utf-8")


@pytest.mark.slow(minutes=2)
def test_its_model_and_its_study_run_to_the_end(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    extend(project.folder)
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
    header, *lines = (artifacts / "studies/widths/points.csv").read_text().splitlines()
    assert header == "model,width,seeds,dev_accuracy_mean,dev_accuracy_sd"
    points = [line.split(",")[:3] for line in lines]
    assert points == [["pair_reader", "4", "1"], ["pair_reader", "8", "1"]]
    (run,) = project.runs("widths")
    assert run.info.status == "FINISHED" and len(project.trials_of(run)) == 2
    report = (artifacts / "report" / "report.md").read_text(encoding="utf-8")
    for title in ("Pair Reader", "Fixed vs adaptive steps", "Accuracy by width"):
        assert title in report
    schema = project.run("python", "-m", "pipeline", "schema")[1]
    assert "#/$defs/studies__widths__section__Study" in schema
    words = shlex.split(predict)[1:]
    status, output = project.run("python", "-m", "pipeline", *words)
    assert status == 0 and "step 1" in output and "premise" in output, output
