"""Files of cluster/ are valid for Ray, Docker Compose and Kubernetes."""

import re
import subprocess
from pathlib import Path
from typing import Any

from ray.autoscaler._private.util import prepare_config, validate_config
from ray.scripts.scripts import cli
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
CLUSTER = ROOT / "cluster"
LOCKED = dict(
    line.split("==") for line in (ROOT / "requirements.lock").read_text().split() if "==" in line
)


def documents(name: str) -> list[Any]:
    return list(YAML(typ="safe", pure=True).load_all((CLUSTER / name).read_text()))


def test_the_launcher_file_follows_rays_schema() -> None:
    validate_config(prepare_config(documents("launcher.yaml")[0]))


def test_nothing_is_published_beyond_this_machine() -> None:
    for name in ("compose.yaml", "metrics.yaml", "gpu.yaml"):
        for service in documents(name)[0]["services"].values():
            assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


def test_every_option_of_a_command_of_ray_exists() -> None:
    job = documents("rayjob.yaml")[1]["spec"]["rayClusterSpec"]
    groups = [job["headGroupSpec"], *job["workerGroupSpecs"]]
    options_used = {("start", f"--{key}") for group in groups for key in group["rayStartParams"]}
    for path in CLUSTER.iterdir():
        text = path.read_text().replace("\\\n", "")
        for command, options in re.findall(r"\bray ([a-z-]+)((?: +-[^;&'\n]*)?)", text):
            assert command in cli.commands, (path, command)
            options_used |= {(command, option) for option in re.findall(r"--[a-z-]+", options)}
    assert len(options_used) > 5
    for command, option in options_used:
        assert any(option in p.opts for p in cli.commands[command].params), (command, option)


def test_versions_are_those_of_the_lock() -> None:
    job = documents("rayjob.yaml")[1]["spec"]["rayClusterSpec"]
    assert job["rayVersion"] == LOCKED["ray"]


def test_the_job_clones_into_a_new_volume_and_updates_it_later(tmp_path: Path) -> None:
    source, volume = tmp_path / "source", tmp_path / "volume"
    (volume / "lost+found").mkdir(parents=True)  # as on a fresh ext4 volume
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", source], check=True)
    head = documents("rayjob.yaml")[1]["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]
    shell, option, script = head["spec"]["initContainers"][0]["command"]
    for text in ("first", "second"):
        (source / "params.yaml").write_text(text)
        subprocess.run(["git", "-C", source, "add", "."], check=True)
        subprocess.run(["git", "-C", source, *identity, "commit", "-qm", text], check=True)
        command = [shell, option, script.replace("REPOSITORY", str(source))]
        subprocess.run(command, cwd=volume, check=True)
        assert (volume / "act-nli" / "params.yaml").read_text() == text
        (volume / "act-nli" / "report.md").write_text("an artifact stays")
