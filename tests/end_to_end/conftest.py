"""Projects shared by end-to-end tests: copy them, do not change them.

Each is a copy of the previous one with more stages run. The first test that needs a project, in
any process, creates it; the others wait.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

from tests.end_to_end.project import ROOT, TINY, Project

Once = Callable[[str, Callable[[Path], object]], Project]
RAY = """
import sys
from pathlib import Path
import ray
from tune.cluster.connection import connected
with connected(dashboard=False, state=Path(sys.argv[1])):
    print(ray.get_runtime_context().gcs_address, flush=True)
    sys.stdin.read()
"""


@dataclass(frozen=True)
class SharedRay:
    """A local Ray: the process that started it, and the environment that joins it."""

    pid: int
    settings: dict[str, str]


@pytest.fixture(scope="session")
def shared_ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedRay]:
    """A Ray for all commands that kill only its workers."""
    state = tmp_path_factory.mktemp("ray")
    other = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    with subprocess.Popen(
        [sys.executable, "-c", RAY, str(state)],
        cwd=ROOT,
        env=other,  # it may have the token of another Ray
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as owner:
        assert owner.stdin and owner.stdout
        address = owner.stdout.readline().strip()
        assert address, (state / "ray.log").read_text()
        settings = {
            "RAY_ADDRESS": address,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(state / "ray_token"),
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # listen on the loopback only
        }
        yield SharedRay(owner.pid, settings)
        owner.stdin.close()


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Return `once(name, make)`, which calls `make(folder)` once among all processes."""
    root = tmp_path_factory.getbasetemp()
    shared = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root

    def once(name: str, make: Callable[[Path], object]) -> Project:
        folder, marker = shared / name, shared / f"{name}.made"
        with FileLock(shared / f"{name}.lock"):
            if not marker.exists():
                make(folder)
                marker.touch()
        return Project(folder)

    return once


@pytest.fixture(scope="session")
def prepared(once: Once) -> Project:
    def make(folder: Path) -> None:
        project = Project(folder)
        project.configure(TINY)
        project.repro("tensors")

    return once("prepared", make)


@pytest.fixture(scope="session")
def undisturbed(once: Once, prepared: Project) -> Project:
    return once("undisturbed", lambda folder: prepared.copy(folder).repro("sweep"))


@pytest.fixture(scope="session")
def whole(once: Once, undisturbed: Project, shared_ray: SharedRay) -> Project:
    return once("whole", lambda folder: undisturbed.copy(folder, **shared_ray.settings).repro())
