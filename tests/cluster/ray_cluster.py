"""A Ray cluster of isolated machines, and its failures."""

import importlib.metadata
import re
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path

import psutil
import torch
from packaging.requirements import Requirement

from tests.cluster.machines import Laboratory, Machine
from tests.end_to_end.project import ROOT, matching

# `ray start` of the guide: on the first machine, and on the others
HEAD, WORKER = re.findall(r"^ray start (.*)$", (ROOT / "docs/cluster.md").read_text(), re.MULTILINE)
INSTALLED = Path(torch.__file__).parents[1]  # the folder of this environment's distributions
PORT = 6379
# By default Ray waits 30 s for a node and 60 s for the head, and its workers have a low priority.
TIMEOUTS = {
    "RAY_worker_niceness": "0",
    "RAY_health_check_initial_delay_ms": "2000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "10",
}
SMALL = ("--object-store-memory=100000000", "--disable-usage-stats")


class Cluster:
    """A head without CPUs for trials, where the driver runs, and workers with one CPU each.

    Nothing runs until `start`. Workers see the store, but not the project: their
    Python environment has Ray and torch only.
    """

    def __init__(self) -> None:
        self.laboratory = Laboratory()
        shared = self.laboratory.folder / "shared"
        self.python = make_environment(shared)
        self.token = shared / "token"
        self.token.write_text(secrets.token_hex(32))
        self.read_only = [sys.base_prefix, f"{INSTALLED}=/installed", str(shared)]
        self.address = f"{self.laboratory.address}:{PORT}"
        self.workers: list[Machine] = []
        self.settings: dict[str, str] = {}
        self._heads = 0

    @property
    def environment(self) -> dict[str, str]:
        token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(self.token)}
        return token | self.settings

    def start(self, workers: int) -> None:
        """Start a new head and workers."""
        self._heads += 1
        folder = self.laboratory.folder / f"ray{self._heads}"
        head = HEAD.replace("10.0.0.1", self.laboratory.address).split()
        head += ["--num-cpus=0", f"--temp-dir={folder}", "--include-dashboard=false"]
        command = ray_start(sys.executable, self.environment, *head)
        self.laboratory.call("env", f"--chdir={ROOT}", *command)
        for _ in range(workers):
            self.add()

    def machine(self, changed: Mapping[Path, Path] | None = None, *, store: bool = True) -> Machine:
        replaced = [f"{new}=/installed/{path}" for path, new in (changed or {}).items()]
        writable = [str(self.laboratory.store)] if store else []
        return self.laboratory.machine([*self.read_only, *replaced], writable)

    def add(self, machine: Machine | None = None) -> Machine:
        machine = machine or self.machine()
        self.workers.append(machine)
        options = WORKER.replace("10.0.0.1", self.laboratory.address).split()
        options += [f"--node-ip-address={machine.address}", "--num-cpus=1"]
        machine.call(*ray_start(str(self.python), self.environment, *options))
        return machine

    def stop(self) -> None:
        for worker in self.workers:
            worker.kill()
        self.workers.clear()
        inside = psutil.Process(self.laboratory.pid).children(recursive=True)
        for process in matching(inside, f"{self.laboratory.folder}/ray{self._heads}"):
            process.kill()


def ray_start(python: str, environment: Mapping[str, str], *options: str) -> list[str]:
    settings = [f"{name}={value}" for name, value in {**environment, **TIMEOUTS}.items()]
    return ["env", *settings, python, "-m", "ray.scripts.scripts", "start", *SMALL, *options]


def required() -> set[str]:
    """Return the names of ray[tune], torch and their dependencies."""
    names: set[str] = set()
    seen: set[tuple[str, str]] = set()
    queue = [(Requirement(text), "") for text in ("ray[tune]", "torch")]
    while queue:
        requirement, extra = queue.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        names.add(requirement.name)
        for wanted in ("", *requirement.extras):
            if (requirement.name, wanted) not in seen:
                seen.add((requirement.name, wanted))
                inner = importlib.metadata.requires(requirement.name) or ()
                queue += [(Requirement(text), wanted) for text in inner]
    return names


def make_environment(folder: Path) -> Path:
    """Link the packages, which machines see in /installed; return the path of Python."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = folder / "lib" / version / "site-packages"
    packages.mkdir(parents=True)
    files = [file for name in required() for file in importlib.metadata.files(name) or ()]
    for name in {file.parts[0] for file in files} - {"..", "__pycache__"}:
        (packages / name).symlink_to(Path("/installed", name))
    binaries = Path(sys.base_prefix, "bin")
    (folder / "pyvenv.cfg").write_text(f"home = {binaries}\ninclude-system-site-packages = false\n")
    python = folder / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(binaries / version)
    return python
