"""Files for GitHub, Compose and citation tools follow their schemas and the project."""

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
        ("compose-spec", "cluster/[cgm]*.yaml"),
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


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = read(ROOT / "CITATION.cff")
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])
    assert f"({project['version']})" in (ROOT / "CHANGELOG.md").read_text()
