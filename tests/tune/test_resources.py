"""A cluster without the resources of a trial is an error; Ray would wait forever."""

import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tune.cluster.resources
from actmodels.errors import SweepError
from tune.cluster.nodes import Nodes
from tune.cluster.resources import ClusterMonitor, wait_for_resources
from tune.trials.execution import Execution


def node(address: str, cpus: float, gpus: float = 0, alive: bool = True) -> dict[str, Any]:
    resources = {"CPU": cpus} | ({"GPU": gpus} if gpus else {})
    listed = {"Alive": alive, "NodeID": address, "NodeManagerAddress": address}
    return {**listed, "Resources": resources}


def nodes(cpus: float = 1, gpus: float = 0) -> Nodes:
    """The nodes of a local Ray, for trials with these resources."""
    return Nodes(Execution(Path(), Path(), Path(), cpus, gpus))


RESUME = "nothing is lost: run the same command again to resume\n"
Cluster = Callable[..., None]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """Set the nodes of each call of ray.nodes; the last ones stay."""

    def have(*calls: list[dict[str, Any]]) -> None:
        left = list(calls)
        monkeypatch.setattr("ray.nodes", lambda: left.pop(0) if len(left) > 1 else left[0])

    return have


@pytest.mark.parametrize(
    ("cpus", "gpus", "expected"), [(1, 0, 6), (3, 0, 1), (1, 0.25, 4), (5, 0, 0)]
)
def test_capacity_is_counted_per_node(
    cpus: float, gpus: float, expected: int, cluster: Cluster
) -> None:
    cluster([node("a", 2), node("b", 4, gpus=1), node("c", 64, alive=False)])
    assert nodes(cpus, gpus).count_capacity() == expected


def test_the_user_limits_the_trials_at_a_time(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lower number does not leave GPUs idle for want of CPUs."""
    cluster([node("a", 8, gpus=4)])
    for most, expected in ((3, 3), (9, 4)):
        limited = Nodes(Execution(Path(), Path(), Path(), 1, 1, max_concurrent=most))
        assert limited.count_capacity() == expected
        wait_for_resources(limited, 0)
    assert capsys.readouterr().err == ""


def test_the_error_names_needs_nodes_and_settings(cluster: Cluster) -> None:
    cluster([node("10.0.0.1", 2)])
    with pytest.raises(SweepError) as raised:
        wait_for_resources(nodes(1, 0.25), 0)
    assert str(raised.value) == (
        "no node has the resources of a trial: it needs 1 CPUs (cluster.cpus_per_trial) and "
        "0.25 GPUs (cluster.gpus_per_trial); there is 10.0.0.1 with 2 CPUs and 0 GPUs; lower these "
        "settings in params.yaml, or start a node with the resources"
    )
    cluster([])
    with pytest.raises(SweepError, match="; there is no node; "):
        wait_for_resources(nodes(64), 0)


@pytest.mark.parametrize(("cpus", "note"), [(4, True), (16, False)])
def test_cpus_that_limit_the_gpus_are_reported(
    cpus: int, note: bool, cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster([node("a", cpus, gpus=4)])
    wait_for_resources(nodes(1, 0.25), 0)
    expected = "the GPUs have room for 16 trials at the same time, the CPUs for 4: each needs 1 "
    assert capsys.readouterr().err == (f"{expected}(cluster.cpus_per_trial)\n" if note else "")


def test_a_cluster_that_can_grow_is_requested_to(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[Any] = []
    monkeypatch.setattr(
        tune.cluster.resources, "request_resources", lambda bundles: requests.append(bundles)
    )
    cluster([], [], [], [node("10.0.0.2", 4)])
    wait_for_resources(nodes(4), 20)
    assert requests == [[{"CPU": 4}], []]
    start = time.monotonic()
    with pytest.raises(SweepError, match=r"of a trial after 1 s \(cluster.patience\): it "):
        wait_for_resources(nodes(8), 1)
    assert 1 <= time.monotonic() - start < 5
    assert requests[2:] == [[{"CPU": 8}], []]


def ends_soon(monitor: ClusterMonitor) -> None:
    start = time.monotonic()
    with pytest.raises(SweepError), monitor:
        time.sleep(20)
    assert time.monotonic() - start < 10


def test_the_loss_of_the_head_or_of_the_last_node_ends_the_sweep(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tune.cluster.resources, "INTERVAL", 0.05)
    here = [node("a", 1)]
    cluster([], here)
    with socket.create_server(("127.0.0.1", 0)) as head:
        address = f"127.0.0.1:{head.getsockname()[1]}"
        with ClusterMonitor(nodes(), 5, {address: "the head"}, {"a"}):
            time.sleep(0.5)
    ends_soon(ClusterMonitor(nodes(), 5, {address: "the head"}, {"a"}))
    assert capsys.readouterr().err == f"\nerror: the head, {address}, is gone; {RESUME}"
    cluster(here, [])
    ends_soon(ClusterMonitor(nodes(), 0.3, {}, {"a"}))
    assert capsys.readouterr().err == f"\nerror: the cluster has no node left for a trial; {RESUME}"


@pytest.mark.parametrize("running", [{"a trial"}, set()])
def test_workers_that_do_not_start_end_the_sweep(
    running: set[str],
    cluster: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Ray would start one after the other, forever."""
    monkeypatch.setattr(tune.cluster.resources, "INTERVAL", 0.05)
    monkeypatch.setattr(tune.cluster.resources, "WORKER_NOTE", 0.2)
    monkeypatch.setattr(tune.cluster.resources, "WORKER_TIMEOUT", 0.5)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    logs = tmp_path / "ray" / "session_latest" / "logs"
    logs.mkdir(parents=True)
    (logs / "raylet.err").write_text("bash: line 1: /a: No such file or directory\n\n")
    cluster([node("a", 1)])
    monitor = ClusterMonitor(nodes(), 5, {}, running)
    if running:
        with monitor:
            time.sleep(1)
        assert capsys.readouterr().err == ""
        return
    ends_soon(monitor)
    assert capsys.readouterr().err == (
        "Ray has started no worker for 0.2 s (bash: line 1: /a: No such file or directory; "
        f"logs in {logs})\n"
        f"\nerror: Ray started no worker for 0.5 s (logs in {logs}); {RESUME}"
    )
