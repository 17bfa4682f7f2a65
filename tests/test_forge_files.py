"""What other programs read follows their schemas and the project."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]


def read(path: Path) -> Any:
    return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        ("github-workflows", ".github/workflows/*.yml"),
        ("github-issue-forms", ".github/ISSUE_TEMPLATE/*.yml"),
        ("citation-file-format", "CITATION.cff"),
        ("compose-spec", "cluster/compose.yaml"),
        ("compose-spec", "cluster/metrics.yaml"),
        ("compose-spec", "cluster/gpu.yaml"),
    ],
)
def test_files_follow_their_schemas(schema: str, pattern: str) -> None:
    paths = sorted(ROOT.glob(pattern))
    assert paths
    check = ["check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    subprocess.run([sys.executable, "-m", *check, *paths], check=True)


def test_targets_of_the_workflow_are_those_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    jobs = read(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    targets = [command.split()[1] for command in commands]
    assert targets == ["lint", "docs", "test-fast", "test-slow"]
    assert all(f"\n{target}: " in makefile for target in targets)


def planned(*arguments: str, path: str = os.environ["PATH"]) -> str:
    """What make would run, whatever an outer one was told."""
    command = ["make", "-n", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env={"PATH": path}, capture_output=True, text=True, check=True
    ).stdout


def test_set_up_leaves_torch_to_the_index_where_told_none(tmp_path: Path) -> None:
    for torch, flag in {"none": "", "": "", "cpu": "--torch-backend cpu"}.items():
        plan = planned("setup", "UV=uv", f"TORCH={torch}", f"VENV={tmp_path}/venv")
        assert f"{flag} -r requirements.lock" in plan and ("--torch" in plan) == bool(flag)


def test_set_up_takes_a_python_that_runs(tmp_path: Path) -> None:
    for name, line in {"python3.11": "exit 127", "python3.12": "exit 0"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    plan = planned("setup", "UV=", f"VENV={tmp_path}/venv", path=path)
    assert f"\n{tmp_path}/python3.12 -m venv {tmp_path}/venv\n" in f"\n{plan}"


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = read(ROOT / "CITATION.cff")
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])
    assert f"({project['version']})" in (ROOT / "CHANGELOG.md").read_text()
