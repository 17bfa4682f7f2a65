"""Fixtures of all tests: one thread, a fixed seed, no telemetry; fast tests have no network."""

import os
import signal
import socket
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

# Background jobs of a shell script ignore SIGINT, and their child processes inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ |= {
    "DO_NOT_TRACK": "true",
    "DVC_NO_ANALYTICS": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "RAY_USAGE_STATS_ENABLED": "0",
}
torch.set_num_threads(1)

# Properties draw the same examples each time; HOSTILE_EXAMPLES=2000 draws as many others.
if find_spec("hypothesis") is not None:  # the sdist needs pytest alone
    from hypothesis import HealthCheck, settings

    own = os.environ.get("HOSTILE_EXAMPLES")
    settings.register_profile(
        "project",
        **{"max_examples": int(own or 60), "derandomize": not own, "deadline": None},
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    settings.load_profile("project")

GOLDEN = Path(__file__).with_name("fixtures") / "golden"
LOOPBACK = ("localhost", "127.0.0.1", "::1", "", None)


class RemoteNetworkError(AssertionError):
    """A fast test accessed the network. Not an OSError, which retries would catch."""


def _refuse_remote(host: Any) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if name not in LOOPBACK:
        raise RemoteNetworkError(
            f"a fast test connected to {name!r}; expected localhost; use a local server"
        )


def pytest_addoption(parser: pytest.Parser) -> None:
    """Accept `timeout` of pyproject.toml without its plugin: the sdist needs pytest alone."""
    parser.addoption("--update-goldens", action="store_true", help="rewrite tests/fixtures/golden")
    if find_spec("pytest_timeout") is None:
        parser.addini("timeout", "seconds per test, with pytest-timeout")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the longest tests first, so that the processes of `make test-all` end together."""

    def minutes(item: pytest.Item) -> float:
        mark = item.get_closest_marker("slow")
        return mark.kwargs.get("minutes", 0) if mark else 0

    items.sort(key=minutes, reverse=True)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return a function that compares a text with a file of tests/fixtures/golden."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-goldens"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return check


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def local_network_only(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse DNS lookups and connections to other machines."""
    if request.node.get_closest_marker("slow"):
        return
    connect, lookup = socket.socket.connect, socket.getaddrinfo

    def local_connect(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            _refuse_remote(address[0])
        connect(self, address)

    def local_lookup(host: Any, *args: Any, **kwargs: Any) -> Any:
        _refuse_remote(host)
        return lookup(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", local_connect)
    monkeypatch.setattr(socket, "getaddrinfo", local_lookup)
