"""Files for Ray, Kubernetes, Compose, GitHub and citation tools follow their schemas."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ray.autoscaler._private.util import prepare_config, validate_config
from ray.scripts.scripts import cli
from ruamel.yaml import YAML

from actmodels import __version__

ROOT = Path(__file__).parents[1]
CLUSTER = ROOT / "cluster"


def documents(path: Path) -> list[Any]:
    return list(YAML(typ="safe", pure=True).load_all(path.read_text(encoding="utf-8")))


@pytest.fixture
def ray_cluster() -> Any:
    """The cluster of the job on Kubernetes."""
    return documents(CLUSTER / "rayjob.yaml")[1]["spec"]["rayClusterSpec"]


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
    jobs = documents(ROOT / ".github" / "workflows" / "tests.yml")[0]["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    targets = [command.split()[1] for command in commands]
    assert targets == ["lint", "docs", "test-fast", "test-slow"]
    assert all(f"\n{target}: " in makefile for target in targets)


@pytest.mark.parametrize("git", [False, True])
def test_set_up_of_a_download_without_git(tmp_path: Path, git: bool) -> None:
    """Also for a service account: no shell, and a user id without a name."""
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text())
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for name in ("requirements.lock", "pyproject.toml", ".venv/bin/python", ".venv/bin/dvc"):
        (tmp_path / name).write_text('#!/bin/sh\n[ "$1" != config ] || echo $@ $SHELL $LOGNAME\n')
        (tmp_path / name).chmod(0o755)
    if git:
        subprocess.run(["git", "init", "-q", tmp_path], check=True)
    env = {"PATH": "/usr/bin:/bin", "SHELL": "/usr/sbin/nologin"}
    make = ["make", "-s", "setup", "UV="]
    output = subprocess.check_output(make, cwd=tmp_path, env=env, text=True)
    configured = f"config --local core.no_scm true bash {os.getuid()}\n"
    assert output == ("" if git else configured)


def test_every_text_file_keeps_its_line_ends_on_windows() -> None:
    listing = subprocess.check_output(["git", "ls-files", "--eol"], cwd=ROOT, text=True)
    attributes = {line.split("\t")[0].split("attr/")[1].strip() for line in listing.splitlines()}
    assert attributes == {"text=auto eol=lf"}


def test_versions_agree(ray_cluster: Any) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = documents(ROOT / "CITATION.cff")[0]
    assert (citation["version"], citation["license"]) == (__version__, project["license"])
    assert [(ROOT / one["filename"]).is_file() for one in citation["references"]] == [True]
    assert f"\n## Version {__version__} " in (ROOT / "CHANGELOG.md").read_text()
    locked = (ROOT / "requirements.lock").read_text().splitlines()
    assert f"ray=={ray_cluster['rayVersion']}" in locked


def test_the_launcher_file_follows_rays_schema() -> None:
    validate_config(prepare_config(documents(CLUSTER / "launcher.yaml")[0]))


def test_nothing_is_published_beyond_this_machine() -> None:
    for name in ("compose.yaml", "metrics.yaml", "gpu.yaml"):
        for service in documents(CLUSTER / name)[0]["services"].values():
            assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


@pytest.mark.parametrize("name", ["Dockerfile", "launcher.yaml", "slurm.sh"])
def test_every_node_has_the_settings_of_ray(name: str) -> None:
    """The containers of compose.yaml and rayjob.yaml have those of the image."""
    settings = ("RAY_worker_niceness=0", "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S=0")
    assert all(setting in (CLUSTER / name).read_text() for setting in settings)


def test_every_option_of_a_command_of_ray_exists(ray_cluster: Any) -> None:
    groups = [ray_cluster["headGroupSpec"], *ray_cluster["workerGroupSpecs"]]
    options_used = {("start", f"--{key}") for group in groups for key in group["rayStartParams"]}
    for path in CLUSTER.iterdir():
        text = path.read_text().replace("\\\n", "")
        for command, options in re.findall(r"\bray ([a-z-]+)((?: +-[^;&'\n]*)?)", text):
            assert command in cli.commands, (path, command)
            options_used |= {(command, option) for option in re.findall(r"--[a-z-]+", options)}
    assert len(options_used) > 5
    for command, option in options_used:
        assert any(option in p.opts for p in cli.commands[command].params), (command, option)


def test_the_job_clones_into_a_new_volume_and_updates_it_later(
    tmp_path: Path, ray_cluster: Any
) -> None:
    source, volume = tmp_path / "source", tmp_path / "volume"
    (volume / "lost+found").mkdir(parents=True)  # as on a fresh ext4 volume
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", source], check=True)
    head = ray_cluster["headGroupSpec"]["template"]["spec"]
    shell, option, script = head["initContainers"][0]["command"]
    project = volume / "act-nli"
    for text in ("first", "second", "third"):
        (source / "params.yaml").write_text(text)
        subprocess.run(["git", "-C", source, "add", "."], check=True)
        subprocess.run(["git", "-C", source, *identity, "commit", "-qm", text], check=True)
        command = [shell, option, script.replace("REPOSITORY", str(source))]
        subprocess.run(command, cwd=volume, check=True)
        assert (project / "params.yaml").read_text() == text
        (project / "params.yaml").write_text("preset=paper")  # by `act-nli use`
        (project / "report.md").write_text("an artifact stays")
    assert (project / "report.md").exists()
