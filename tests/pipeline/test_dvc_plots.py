"""`dvc plots` draws what the report says: a real project of git and DVC, and its templates."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import vl_convert
from ruamel.yaml import YAML

from reports.load import load
from reports.render import write_tables
from reports.report import report

ROOT = Path(__file__).parents[2]
STORED = ROOT / "tests" / "fixtures" / "artefacts"
VEGA_LITE = "5.8"  # DVC's own page loads a fifth version
NAMES = [
    *("Fixed vs adaptive steps", "Learning curves"),
    *("Sweep by ponder weight", "Test accuracy, table 1"),
]


def run(folder: Path, *command: str) -> str:
    own = {"DVC_NO_ANALYTICS": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    person = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    words = ["git", *person, *command[1:]] if command[0] == "git" else [*command]
    done = subprocess.run(words, cwd=folder, env=os.environ | own, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def dvc(folder: Path, *words: str) -> str:
    return run(folder, sys.executable, "-m", "dvc", *words)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the plots of dvc.yaml, and the files that they draw; all committed."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(STORED, folder / "artefacts")
    write_tables(report(load(STORED), True, 0), folder / "artefacts" / "report" / "tables")
    run(folder, "git", "init", "--quiet")
    dvc(folder, "init", "--quiet")
    shutil.copytree(ROOT / ".dvc" / "plots", folder / ".dvc" / "plots")
    yaml = YAML(typ="safe", pure=True)
    whole = yaml.load((ROOT / "dvc.yaml").read_text("utf-8"))
    with (folder / "dvc.yaml").open("w", encoding="utf-8") as file:
        yaml.dump({"plots": whole["plots"]}, file)
    run(folder, "git", "add", "--all")
    run(folder, "git", "commit", "--quiet", "--message", "First")
    return folder


def plots(output: str) -> dict[str, Any]:
    """The filled templates by name."""
    told = json.loads(output)
    assert not told.get("errors")
    return {name: drawn[0]["content"] for name, drawn in told["data"].items()}


def drawn(spec: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    """The data of all marks of a type, as Vega computes them."""
    scene = vl_convert.vegalite_to_scenegraph(spec, vl_version=VEGA_LITE)["scenegraph"]
    found: list[dict[str, Any]] = []

    def walk(part: dict[str, Any]) -> None:
        if part.get("marktype") == mark and part.get("role") == "mark":
            found.extend(part["items"])
        for item in part.get("items", ()):
            walk(item)

    walk(scene)
    return found


@pytest.mark.slow
def test_every_plot_draws_the_reports_own_file(project: Path) -> None:
    filled = plots(dvc(project, "plots", "show", "--json"))
    assert list(filled) == NAMES
    for name, spec in filled.items():
        assert "<DVC_METRIC" not in json.dumps(spec), name
        (source,) = {row["filename"] for row in spec["data"]["values"]}
        stored = list(csv.DictReader(io.StringIO((project / source).read_text("utf-8"))))
        shown = [{key: row[key] for key in stored[0]} for row in spec["data"]["values"]]
        assert shown == stored, name
        assert vl_convert.vegalite_to_vega(spec, vl_version=VEGA_LITE)["marks"]


@pytest.mark.slow
def test_what_is_not_meant_is_not_drawn(project: Path) -> None:
    filled = plots(dvc(project, "plots", "show", "--json"))
    # 20 numbers of steps in both readings on dev, and adaptive halting as a level
    ablation = filled["Fixed vs adaptive steps"]
    assert len(drawn(ablation, "symbol")) == 40 and len(drawn(ablation, "rule")) == 1
    # 3 seeds of 2 models
    curves = filled["Learning curves"]
    assert len({item["stroke"] for item in drawn(curves, "line")}) == 2
    assert len(drawn(curves, "symbol")) == 30
    # 2 weights of one model, each with its sd
    weights = filled["Sweep by ponder weight"]
    assert len(drawn(weights, "symbol")) == len(drawn(weights, "rule")) == 2
    # two models with a spread, and the classifier without one
    table = filled["Test accuracy, table 1"]
    assert len(drawn(table, "symbol")) == 3 and len(drawn(table, "rule")) == 2


@pytest.mark.slow
def test_a_page_is_written_with_all_of_them(project: Path, tmp_path: Path) -> None:
    dvc(project, "plots", "show", "--out", str(tmp_path / "html"))
    page = (tmp_path / "html" / "index.html").read_text("utf-8")
    assert [name for name in NAMES if name not in page] == []


@pytest.mark.slow
def test_two_revisions_are_told_apart(project: Path) -> None:
    path = project / "artefacts" / "report" / "tables" / "table_1.csv"
    kept = path.read_text("utf-8")
    try:
        path.write_text(kept.replace(",0.82,", ",0.85,"), encoding="utf-8")
        filled = plots(dvc(project, "plots", "diff", "HEAD", "--json"))
    finally:
        path.write_text(kept, encoding="utf-8")
    found = {
        (row["rev"], row["test_accuracy_mean"])
        for row in filled["Test accuracy, table 1"]["data"]["values"]
        if row["model"] == "adaptive_attention"
    }
    assert found == {("HEAD", "0.82"), ("workspace", "0.85")}
