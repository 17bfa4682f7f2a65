"""Fixtures: a project folder, and downloads that retry without waiting."""

from pathlib import Path

import pytest

from pipeline.datasets import download


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Download without waiting and without a proxy."""
    monkeypatch.setattr(download, "FIRST_WAIT_S", 0.001)
    monkeypatch.setattr(download, "TIMEOUTS_S", (15.0, 0.2))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
