"""A new sqlite store for each test, and a Ray shared by many: both take seconds to create."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import tune.tracking.tracker  # noqa: F401  first: it sets the environment that MLflow reads
from tune.cluster.connection import connected

# isort: split
from mlflow import MlflowClient


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "mlflow.db"
    MlflowClient(f"sqlite:///{path}")
    return path


@pytest.fixture
def state(empty_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    folder = tmp_path / "state"
    folder.mkdir()
    shutil.copy(empty_database, folder / "mlflow.db")
    return folder


@pytest.fixture(scope="module")
def one_ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A local Ray for all sweeps of a module, whose workers have the trainings of the tests."""
    state, code = tmp_path_factory.mktemp("ray"), [Path(__file__).parents[1]]
    with pytest.MonkeyPatch.context() as patch:
        for name in ("RAY_ADDRESS", "MLFLOW_TRACKING_URI"):
            patch.delenv(name, raising=False)
        with connected(dashboard=False, state=state, code=code):
            patch.setattr("tune.cluster.runner.connected", lambda **_: contextlib.nullcontext())
            yield
