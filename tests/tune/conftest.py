"""A fresh sqlite store for each test, copied because MLflow takes seconds to make one."""

import shutil
from pathlib import Path

import pytest

import tune.tracking  # noqa: F401  first: it sets the environment that MLflow reads

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
