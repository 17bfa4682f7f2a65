"""The line at the start of a stage of `make repro`: its number, and the time left if known."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.runtime import progress
from pipeline.runtime.inputs import stage_names, yaml_tree
from pipeline.runtime.progress import DEMO, SINCE, begin, digest_of_all_parameters
from tests.pipeline.project import ROOT, shipped_params

DVC = """
stages:
  watch: {cmd: a}
  watched: {foreach: "${watch}", do: {cmd: b}}
  data: {cmd: c}
  study: {foreach: "${studies}", do: {cmd: d}}
  report: {cmd: e}
"""
GUIDE = (ROOT / "docs" / "getting-started.md").read_text("utf-8")
PARAMS = "watch: []\nstudies: [one, two]\nsize: 1\n"


@pytest.fixture
def now(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the time of a project in `make repro`, whose start is in the environment."""
    (folder / "dvc.yaml").write_text(DVC)
    (folder / "params.yaml").write_text(PARAMS)
    times = [100.0]
    monkeypatch.setattr(progress.time, "time", lambda: times[0])
    monkeypatch.setenv(SINCE, "100")
    return times


def repro(now: list[float], *seconds: float) -> list[str]:
    """Run the stages but `watch`, which has no line; return their lines."""
    lines = []
    for name, duration in zip(stage_names()[1:], seconds, strict=False):
        lines.append(begin(name))
        now[0] += duration
    return lines


def test_the_time_left_is_that_of_the_slowest_run_with_the_same_parameters(
    folder: Path, now: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = ["stage 2 of 5", "stage 3 of 5", "stage 4 of 5", "stage 5 of 5"]
    assert repro(now, 50, 40, 30) == alone[:3]  # the third is interrupted
    monkeypatch.setenv(SINCE, "200")
    assert repro(now, 1, 1, 30, 61) == alone
    assert begin() == ""  # the summary of `make repro`
    monkeypatch.setenv(SINCE, "300")
    lines = repro(now, 1, 1, 1, 1)
    for line, number, minutes in zip(lines, (2, 3, 4, 5), (4, 3, 2, 2), strict=True):
        assert line == f"stage {number} of 5, up to {minutes} minutes left, as in earlier runs"
    (folder / "params.yaml").write_text(PARAMS.replace("1", "2"))
    monkeypatch.setenv(SINCE, "400")
    assert repro(now, 1, 1, 1, 1) == alone
    assert not begin("alone")  # no stage of dvc.yaml
    (folder / "state" / "stage_seconds.json").write_text("{")
    assert begin("report") == "stage 5 of 5"


def test_a_stage_prints_its_line(folder: Path, now: list[float]) -> None:
    (folder / "data.py").write_text(
        "from pipeline.runtime.stage import run_stage\ndef main() -> None: ...\nrun_stage(main)\n"
    )
    done = subprocess.run(
        [sys.executable, "data.py"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "stage 2 of 5\n")


def test_another_command_has_no_line(
    folder: Path, now: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SINCE)
    assert begin("data") == "" and not (folder / "state").exists()


def test_the_demo_has_the_time_of_its_table(
    folder: Path, now: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "dvc.yaml").write_text((ROOT / "dvc.yaml").read_text("utf-8"))
    (folder / "params.yaml").write_text(shipped_params())
    demo = json.loads(DEMO.read_text("utf-8"))
    assert demo["parameters"] == digest_of_all_parameters(), "the demo's parameters have changed"
    table = re.findall(r"^\| (`.+`) \|.* (\d+):(\d+) (?:\(.*\) )?\|$", GUIDE, re.MULTILINE)
    rows = [(" ".join(re.findall(r"[\w@]+", stages)), *time) for stages, *time in table]
    assert demo["seconds"] == {stages: 60 * int(m) + int(s) for stages, m, s in rows}
    basis = f"as on {demo['machine']}"
    assert begin("vocabulary") == f"stage 3 of 15, up to 11 minutes left, {basis}"
    assert begin("report") == f"stage 15 of 15, up to 1 minute left, {basis}"
    with (folder / "params.yaml").open("a") as file:
        file.write("more: 1\n")
    assert begin("report") == "stage 15 of 15"


def test_each_stage_is_after_the_stages_that_it_reads() -> None:
    """`dvc repro` runs them in the order of dvc.yaml then."""
    read = set[Path]()
    for declared in yaml_tree(ROOT / "dvc.yaml")["stages"].values():
        stage = declared.get("do", declared)
        outs = [Path(out) for out in stage["outs"]]
        late = [p for p in read for out in outs if p.is_relative_to(out) or out.is_relative_to(p)]
        assert not late
        read |= {Path(path) for path in stage.get("deps", ())}
