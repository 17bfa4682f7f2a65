"""Fetching loses no time in tests and goes through no proxy."""

import pytest

from pipeline.sources import download


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "FIRST_WAIT_S", 0.001)
    monkeypatch.setattr(download, "READ_TIMEOUT_S", 0.2)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
