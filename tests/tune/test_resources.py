"""A cluster without room for a trial is told at once; Ray would wait for ever."""

import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

import tune.resources
from actmodels.errors import SweepError
from tune.nodes import Nodes
from tune.resources import ClusterMonitor, wait_for_resources
from tune.storage import storage


def node(address: str, cpus: float, gpus: float = 0, alive: bool = True) -> dict[str, Any]:
    resources = {"CPU": cpus} | ({"GPU": gpus} if gpus else {})
    found = {"Alive": alive, "NodeID": address, "NodeManagerAddress": address}
    return {**found, "Resources": resources}


NODES, CPU = Nodes(storage("nowhere"), joined=False), {"cpu": 1, "gpu": 0}
AGAIN = "nothing is lost: run the same command again to go on\n"
Cluster = Callable[..., None]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """Say which nodes there are, look by look; the last of them stay."""

    def have(*looks: list[dict[str, Any]]) -> None:
        left = list(looks)
        monkeypatch.setattr("ray.nodes", lambda: left.pop(0) if len(left) > 1 else left[0])

    return have


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({"cpu": 1, "gpu": 0}, 6),
        ({"cpu": 3, "gpu": 0}, 1),
        ({"cpu": 1, "gpu": 0.25}, 4),
        ({"cpu": 5, "gpu": 0}, 0),
    ],
)
def test_places_are_counted_node_by_node(
    resources: dict[str, float], expected: int, cluster: Cluster
) -> None:
    cluster([node("a", 2), node("b", 4, gpus=1), node("c", 64, alive=False)])
    assert NODES.places(resources) == expected


def test_what_there_is_what_is_asked_for_and_what_to_do(cluster: Cluster) -> None:
    cluster([node("10.0.0.1", 2)])
    with pytest.raises(SweepError) as told:
        wait_for_resources(NODES, {"cpu": 1, "gpu": 0.25}, 0)
    assert str(told.value) == (
        "no node has room for a trial: it asks for 1 CPUs (cluster.cpus_per_trial) and 0.25 GPUs "
        "(cluster.gpus_per_trial); there is 10.0.0.1 with 2 CPUs and 0 GPUs; lower what a trial "
        "asks for in params.yaml, or start a node that has it"
    )
    cluster([])
    with pytest.raises(SweepError, match="; there is no node; "):
        wait_for_resources(NODES, {"cpu": 64, "gpu": 0}, 0)


def test_a_cluster_that_can_grow_is_asked_to_and_waited_for(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(tune.resources, "request_resources", lambda bundles: asked.append(bundles))
    cluster([], [], [], [node("10.0.0.2", 4)])
    wait_for_resources(NODES, {"cpu": 4, "gpu": 0}, 20)
    assert asked == [[{"CPU": 4}], []]
    start = time.monotonic()
    with pytest.raises(SweepError, match=r"for a trial after 1 s \(cluster.wait_for_nodes\): it "):
        wait_for_resources(NODES, {"cpu": 8, "gpu": 0}, 1)
    assert 1 <= time.monotonic() - start < 5
    assert asked[2:] == [[{"CPU": 8}], []]


def ends_soon(watch: ClusterMonitor) -> None:
    start = time.monotonic()
    with pytest.raises(SweepError), watch:
        time.sleep(20)
    assert time.monotonic() - start < 10


def test_the_last_node_is_missed_and_one_that_comes_back_is_not(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tune.resources, "EVERY", 0.05)
    here = [node("a", 1)]
    cluster([], here)
    with ClusterMonitor(NODES, CPU, patience=5, needed={}):
        time.sleep(0.5)
    cluster(here, [])
    ends_soon(ClusterMonitor(NODES, CPU, patience=0.3, needed={}))
    assert capsys.readouterr().err == f"\nerror: the cluster has no node left for a trial; {AGAIN}"


def test_a_head_that_is_gone_is_told_at_once(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tune.resources, "EVERY", 0.05)
    cluster([node("a", 1)])
    with socket.create_server(("127.0.0.1", 0)) as head:
        address = f"127.0.0.1:{head.getsockname()[1]}"
        with ClusterMonitor(NODES, CPU, 5, {address: "the head"}):
            time.sleep(0.5)
    ends_soon(ClusterMonitor(NODES, CPU, 5, {address: "the head"}))
    assert capsys.readouterr().err == f"\nerror: the head, {address}, is gone; {AGAIN}"
