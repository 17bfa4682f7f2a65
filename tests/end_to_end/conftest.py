"""Projects that several end-to-end tests start from."""

import pytest

from tests.end_to_end.project import TINY, Project


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with its data made and nothing trained. Copy it; do not change it."""
    project = Project(tmp_path_factory.mktemp("prepared") / "project")
    project.configure(TINY)
    project.repro("tensors")
    return project


@pytest.fixture(scope="session")
def undisturbed(prepared: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The same project after its sweep, with nothing killed. Copy it; do not change it."""
    project = prepared.copy(tmp_path_factory.mktemp("undisturbed") / "project")
    project.repro("sweep")
    return project
