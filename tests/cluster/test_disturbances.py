"""Failures of a cluster during a sweep: the same command completes it with the same results.

The results are byte-identical to those of a run on one machine, and MLflow has one finished run
per grid point.
"""

import json
import re
import signal
import time
from pathlib import Path

import pytest
import ray
import torch

from tests.cluster.machines import Machine
from tests.cluster.project import ClusterProject, s3_server, stopped
from tests.cluster.ray_cluster import INSTALLED, Cluster
from tests.end_to_end.project import ROOT, Project, in_mid_sweep, processes
from tests.end_to_end.test_kills import check_complete

pytestmark = pytest.mark.slow(minutes=6)
INSPECT = """
import importlib.util, json, os, sys
import ray.tune, torch
known = [name for name in ("actmodels", "dvc", "mlflow") if importlib.util.find_spec(name)]
seen = [path for path in sys.argv[1:] if os.path.exists(path)]
print(json.dumps([torch.__version__, ray.__version__, known, seen]))
"""


def test_a_worker_sees_the_store_and_nothing_of_the_project(cluster: Cluster) -> None:
    """A precondition of the tests below."""
    store = cluster.laboratory.store
    first, second = cluster.machine(), cluster.machine()
    inside = [f"{store}/here", "/tmp/own", "/dev/shm/own"]
    first.call("touch", *inside)
    output = second.call(str(cluster.python), "-c", INSPECT, str(ROOT), *inside)
    assert json.loads(output) == [torch.__version__, ray.__version__, [], inside[:1]]


@pytest.fixture
def project(cluster: Cluster, prepared: Project, tmp_path: Path) -> ClusterProject:
    """A project with its data, and no trained trials."""
    return ClusterProject(prepared, tmp_path / "project", cluster)


def test_all_workers_die_another_joins_and_mlflow_hangs(
    cluster: Cluster, project: ClusterProject, undisturbed: Project
) -> None:
    cluster.start(workers=2)
    with project.tracked() as server, in_mid_sweep(project) as command:
        first, second = cluster.workers
        with stopped(server, seconds=30):
            first.kill()
            cluster.add()
            second.kill()  # only the new node is left
        assert command.wait(300) == 0, project.log()
    check_complete(project, undisturbed)


def test_the_s3_store_refuses_connections_for_25_seconds(
    cluster: Cluster, project: ClusterProject, undisturbed: Project
) -> None:
    """While trials save, a worker dies, another joins, and the driver removes checkpoints."""
    project.configure({"cluster.storage": "s3://sweeps/run"})
    with s3_server(cluster, project.folder) as send:
        cluster.start(workers=2)
        with in_mid_sweep(project, project.finished) as command:
            send(signal.SIGUSR1)
            begin = time.monotonic()
            cluster.workers[0].kill()
            cluster.add()
            time.sleep(max(0.0, begin + 25 - time.monotonic()))
            send(signal.SIGUSR2)
            assert command.wait(300) == 0, project.log()
    assert "is not used" not in project.log(), project.log()
    check_complete(project, undisturbed)


def test_the_head_dies_and_later_a_node_is_disconnected(
    cluster: Cluster, project: ClusterProject, undisturbed: Project
) -> None:
    cluster.start(workers=2)
    with in_mid_sweep(project) as command:
        for machine in cluster.workers:  # else their trials may end before the driver notices
            machine.connect(False)
        processes(cluster.laboratory.pid, "gcs")[0].kill()
        assert command.wait(120) != 0
    output = project.log()
    gone = (
        f"error: the head of the Ray cluster, {cluster.address}, is gone; nothing is lost: run the "
        "same command again to resume"
    )
    assert gone in output, output
    assert "Traceback" not in output, output
    cluster.stop()
    cluster.start(workers=2)
    again = time.time()
    with in_mid_sweep(
        project, lambda: any(path.stat().st_mtime > again for path in project.saved())
    ) as command:
        lost = next(each for each in cluster.workers if processes(each.pid, "worker"))
        lost.connect(False)
        time.sleep(25)  # longer than TIMEOUTS
        lost.connect()
        assert command.wait(300) == 0, project.log()
    check_complete(project, undisturbed)


def other_torch(cluster: Cluster) -> Machine:
    """A worker with another version of torch."""
    version = cluster.laboratory.folder / "version.py"
    here = Path("torch", "version.py")
    version.write_text((INSTALLED / here).read_text() + "\n__version__ = '2.0.0'\n")
    return cluster.add(cluster.machine({here: version}))


def test_two_nodes_cannot_train_and_the_storage_is_full(
    cluster: Cluster, project: ClusterProject, undisturbed: Project
) -> None:
    cluster.start(workers=1)
    other, no_storage = other_torch(cluster), cluster.add(cluster.machine(store=False))
    full = f"{cluster.laboratory.store}/full"
    with in_mid_sweep(project) as command:
        assert [m for m in cluster.workers if processes(m.pid, "worker")] == cluster.workers[:1]
        cluster.laboratory.call("sh", "-c", f"cat /dev/zero >{full} || true")
        assert command.wait(120) != 0
    output = project.log()
    place = project.storage / "checkpoints"
    for machine, problem in (
        (other, f"has torch 2.0.0, this machine {torch.__version__}; install the same"),
        (no_storage, f"does not see {place} as this machine does (No such file or directory)"),
    ):
        note = rf"^node {re.escape(machine.address)} \(.{{8}}\) is not used: {re.escape(problem)}$"
        assert len(re.findall(note, output, re.MULTILINE)) == 1, output
    message = (
        f"error: {place} is full; make room there; nothing is lost: run the same command again"
    )
    assert message in output, output
    assert "it restarts" not in output, output
    assert "Traceback" not in output, output
    cluster.laboratory.call("rm", full)
    project.repro("sweep")
    check_complete(project, undisturbed)
