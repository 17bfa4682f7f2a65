"""Clusters of isolated machines, which need root and a few Linux tools."""

import os
from collections.abc import Iterator

import pytest

from tests.cluster.machines import missing_tools
from tests.cluster.ray_cluster import Cluster
from tests.end_to_end.conftest import once, prepared, undisturbed  # noqa: F401


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A cluster that is not started; skip without the tools, or fail if CLUSTER_TESTS=required."""
    if reason := missing_tools():
        text = f"{reason}: a cluster of isolated machines needs Linux namespaces"
        if os.environ.get("CLUSTER_TESTS") == "required":
            pytest.fail(text)
        pytest.skip(text)
    cluster = Cluster()
    yield cluster
    cluster.laboratory.close()
