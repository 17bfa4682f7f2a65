"""Projects that several end-to-end tests start from: copy them, do not change them.

Each is the one before it after some more stages. The first test that needs it makes it, whichever
process that test runs in; the others wait.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from tests.end_to_end.project import TINY, Project

Make = Callable[[str, Callable[[Path], Project]], Project]


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """`once(name, make)`: what `make(folder)` makes, or has made in another process."""
    root = tmp_path_factory.getbasetemp()
    shared = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root

    def once(name: str, make: Callable[[Path], Project]) -> Project:
        folder, made = shared / name, shared / f"{name}.made"
        with FileLock(shared / f"{name}.lock"):
            if not made.exists():
                make(folder)
                made.touch()
        return Project(folder)

    return once


@pytest.fixture(scope="session")
def prepared(once: Make) -> Project:
    """A project with its data made and nothing trained."""

    def make(folder: Path) -> Project:
        project = Project(folder)
        project.configure(TINY)
        project.repro("tensors")
        return project

    return once("prepared", make)


@pytest.fixture(scope="session")
def undisturbed(once: Make, prepared: Project) -> Project:
    """After its sweep, with nothing killed."""
    return once("undisturbed", lambda folder: prepared.copy(folder).done("sweep"))


@pytest.fixture(scope="session")
def whole(once: Make, undisturbed: Project) -> Project:
    """After all stages."""
    return once("whole", lambda folder: undisturbed.copy(folder).done())
