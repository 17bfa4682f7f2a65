"""Clusters of isolated machines, which need root and a few tools of Linux."""

import os
from collections.abc import Iterator

import pytest

from tests.cluster.machines import missing_tools
from tests.cluster.ray_cluster import Cluster
from tests.end_to_end.conftest import once, prepared, undisturbed  # noqa: F401


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A head and no worker yet; with CLUSTER_TESTS=required it is an error if it cannot be."""
    if reason := missing_tools():
        text = f"{reason}: a cluster of isolated machines is made with the namespaces of Linux"
        if os.environ.get("CLUSTER_TESTS") == "required":
            pytest.fail(text)
        pytest.skip(text)
    with Cluster() as cluster:
        yield cluster
