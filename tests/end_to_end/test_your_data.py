"""`act-nli use`: the first command of docs/your-data.md, for a model with steps and one without."""

import csv
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.project import ROOT, Project

DA, AA = "decomposable_attention", "adaptive_attention"
SHORT = "cluster.dashboard=false retrain.seeds=[1]"
HALTING = "study=halting halting.seeds=[1] halting.max_epochs=1"
USE = "python -m pipeline use"
TEST = "docs/examples/pairs/test.csv"


@pytest.mark.slow(minutes=3)
@pytest.mark.timeout(1700)
def test_own_pairs_with_a_model_that_takes_steps(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    artifacts = project.folder / "artifacts"

    def rows(name: str) -> list[dict[str, str]]:
        return list(csv.DictReader((artifacts / name).open(encoding="utf-8")))

    def summary(stage: str) -> Any:
        return json.loads((artifacts / stage / "summary.json").read_text())

    page = (ROOT / "docs" / "your-data.md").read_text(encoding="utf-8")
    command = re.search(r"(?ms)^```\nact-nli use (.*?) && make repro\n```$", page)
    assert command
    words = f"{command[1].replace('study=none', HALTING)} models={AA} {SHORT}"
    run = f"{USE} {words} && mkdir -p artifacts/studies && dvc repro"
    status, output = project.run("bash", "-c", run, timeout=1500)
    assert status == 0, output
    assert all(digest in output for digest in summary("corpus")["sha256"].values())
    assert [split["labeled"] for split in summary("corpus")["splits"].values()] == [12, 4, 4]
    report = (artifacts / "report" / "report.md").read_text()
    for text in ("own files, 12 pairs", "Fixed vs adaptive steps", "Halting mechanisms"):
        assert text in report
    (compared,) = rows("evaluate/paired.csv")
    assert (compared["model"], compared["reference"]) == ("lexical_baseline", AA)
    for name in ("studies/halting/points.csv", "ablate/test.csv", "ablate/gains.csv"):
        assert rows(name)
    assert list(summary("trace")) == [AA]
    predict = (sys.executable, "-m", "pipeline.predict", TEST, "--format", "csv")
    status, output = project.run(*predict, "--output", "artifacts/answers.csv")
    assert status == 0, output
    assert [(row["line"], row["reliable"]) for row in rows("answers.csv")] == [
        (str(line), "true") for line in (2, 3, 4, 5)
    ]


# Chinese pairs of five classes in one file: the premise is that a person holds a thing
CLASSES = ["相同", "不同 人", "不同.物", "it's both", '"no" pair']
PEOPLE, THINGS = ["老师", "医生", "男孩", "女孩"], ["红苹果", "白杯子", "旧书", "新车"]


def write_pairs(path: Path, count: int) -> None:
    """Write pairs of all splits, two thirds of them for training."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["premise", "hypothesis", "label", "split"])
        for number in range(count):
            person, thing = number // 5 % 4, number // 20 % 4
            kind = number % 5
            other = PEOPLE[person - (kind in (1, 3))], THINGS[thing - (kind in (2, 3))]
            hypothesis = "没有人。" if kind == 4 else f"{other[0]}拿着{other[1]}。"
            premise = f"{PEOPLE[person]}拿着{THINGS[thing]} 第{number}天。"
            split = ("train", "train", "dev", "train", "train", "test")[number // 5 % 6]
            table.writerow([premise, hypothesis, CLASSES[kind], split])


@pytest.mark.slow(minutes=3)
@pytest.mark.timeout(900)
def test_own_classes_in_one_file_that_is_edited(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    artifacts, pairs = project.folder / "artifacts", project.folder / "pairs.csv"
    write_pairs(pairs, 240)
    where = [
        f"corpus.files.{split}={pairs.name} corpus.files.where.{split}.split={split}"
        for split in ("train", "dev", "test")
    ]
    words = f"corpus.source=files models={DA} study=none {SHORT} "
    words += f"lexical_baseline.min_count=1 retrain.max_epochs=3 {' '.join(where)}"
    status, output = project.run("bash", "-c", f"{USE} {words} && dvc repro")
    assert status != 0 and "are the classes: " in output, output
    printed = output.partition("are the classes: ")[2].splitlines()[0]
    use = printed.partition("; if they are other names")[0].replace("act-nli use", USE)
    status, output = project.run("bash", "-c", f"{use} && dvc repro", timeout=800)
    assert status == 0, output
    counts = json.loads((artifacts / "corpus" / "summary.json").read_text())
    assert counts["classes"] == CLASSES
    assert [n["classes"] for n in counts["splits"].values()] == [
        dict.fromkeys(CLASSES, n) for n in (32, 8, 8)
    ]
    report = (artifacts / "report" / "report.md").read_text(encoding="utf-8")
    assert all(name in report.replace("\\", "") for name in CLASSES)
    assert "SNLI" not in report and "Fixed vs adaptive steps" not in report
    assert json.loads((artifacts / "trace" / "summary.json").read_text()) == {}
    card = (artifacts / "export" / "models" / DA / "README.md").read_text(encoding="utf-8")
    assert f": {', '.join(CLASSES)}.\n" in card and "license: unknown" in card
    predict = (sys.executable, "-m", "pipeline.predict")
    status, output = project.run(*predict, pairs.name, "--format", "csv", "--output", "a.csv")
    assert status == 0 and "accuracy: " in output and "(n = 240 labeled pairs)" in output
    answers = list(csv.DictReader((project.folder / "a.csv").open(encoding="utf-8")))
    assert {row["predicted"] for row in answers} <= {*CLASSES}
    assert all(abs(sum(float(row[name]) for name in CLASSES) - 1) < 1e-5 for row in answers)
    # an unchanged file is not read again; an edited one is
    status, output = project.run("dvc", "repro", "corpus")
    assert status == 0 and "Stage 'corpus' didn't change, skipping" in output
    assert "watched@corpus" in project.run("dvc", "status")[1]
    write_pairs(pairs, 210)
    status, output = project.run("dvc", "repro", "corpus")
    assert status == 0 and "Running stage 'corpus'" in output
    counts = json.loads((artifacts / "corpus" / "summary.json").read_text())
    assert [n["labeled"] for n in counts["splits"].values()] == [140, 35, 35]
