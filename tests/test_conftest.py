import os
import socket

import pytest
import requests
import torch

from tests.conftest import RemoteNetworkError


def test_a_remote_name_is_refused_before_it_is_looked_up() -> None:
    with pytest.raises(RemoteNetworkError, match=r"'example\.org'"):
        requests.get("https://example.org/", timeout=1)


def test_a_remote_address_is_refused() -> None:
    with socket.socket() as remote, pytest.raises(RemoteNetworkError, match=r"192\.0\.2\.1"):
        remote.connect(("192.0.2.1", 80))


def test_a_local_server_is_reached() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname(), timeout=1) as client,
    ):
        assert client.getpeername() == server.getsockname()


def test_each_test_starts_from_the_same_seed_on_one_thread_and_reports_nothing() -> None:
    drawn = torch.rand(3)
    torch.manual_seed(0)
    assert torch.equal(drawn, torch.rand(3))
    assert torch.get_num_threads() == 1
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
