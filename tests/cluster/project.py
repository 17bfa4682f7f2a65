"""A copy of the project whose driver runs on the head of a cluster."""

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.cluster.ray_cluster import Cluster
from tests.cluster.s3_server import SETTINGS as S3_SETTINGS
from tests.end_to_end.project import ROOT, Project, wait_for


class ClusterProject(Project):
    """A copy of a project, with its checkpoints in the cluster's store."""

    def __init__(self, like: Project, folder: Path, cluster: Cluster) -> None:
        shutil.copytree(like.folder, folder, symlinks=True)
        super().__init__(folder)
        self.cluster = cluster
        self.storage = cluster.laboratory.store / "run"
        self.tracking: dict[str, str] = {}
        self.configure({"cluster.storage": str(self.storage)})

    def environment(self) -> dict[str, str]:
        cluster = {"RAY_ADDRESS": self.cluster.address, **self.cluster.environment}
        return super().environment() | cluster | self.tracking

    def start(self, *command: str) -> subprocess.Popen[str]:
        inside = self.cluster.laboratory.inside()
        return super().start(*inside, "env", f"--chdir={self.folder}", *command)

    def checkpoints(self) -> Path:
        return Path(f"/proc/{self.cluster.laboratory.pid}/root{self.storage}/checkpoints")

    @contextmanager
    def tracked(self) -> Iterator[psutil.Process]:
        """Track on an MLflow server on the head, whose database `client` reads."""
        (self.folder / "state").mkdir(exist_ok=True)
        command = [f"--chdir={self.folder}"]
        command += ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false"]  # else several unused processes
        command += [sys.executable, "-m", "mlflow", "server", "--workers=1", "--port=5000"]
        command += [f"--backend-store-uri=sqlite:///{self.folder}/state/mlflow.db"]
        command += [f"--artifacts-destination={self.folder}/state/served"]
        log = self.folder / "server.log"
        with on_the_head(self.cluster, command, log, "startup complete") as server:
            self.tracking = {"MLFLOW_TRACKING_URI": "http://127.0.0.1:5000"}  # from the head
            yield server
            self.tracking = {}


@contextmanager
def on_the_head(
    cluster: Cluster, command: Sequence[str], log: Path, ready: str
) -> Iterator[psutil.Process]:
    """Run a server by `env` on the head; yield its process when the text `ready` is in its log."""
    with log.open("w") as output:
        launcher = subprocess.Popen(
            [*cluster.laboratory.inside(), "env", *command],
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        wait_for(lambda: ready in log.read_text(), log.name)
        yield psutil.Process(launcher.pid)
    finally:
        for process in psutil.Process(launcher.pid).children(recursive=True):
            process.kill()
        launcher.kill()  # nsenter stops with its command, see `stopped`
        launcher.wait()


@contextmanager
def s3_server(cluster: Cluster, folder: Path) -> Iterator[Callable[[signal.Signals], None]]:
    """Start an S3 server on the head for all machines; yield a function that signals it."""
    address = cluster.laboratory.address
    cluster.settings |= S3_SETTINGS | {"AWS_ENDPOINT_URL": f"http://{address}:7070"}
    words = [f"{name}={value}" for name, value in cluster.settings.items()]
    command = [f"--chdir={ROOT}", *words, sys.executable, "-m", "tests.cluster.s3_server"]
    command += [address, "7070", "sweeps"]
    with on_the_head(cluster, command, folder / "s3.log", "ready") as launcher:
        (server,) = launcher.children(recursive=True)
        yield server.send_signal


@contextmanager
def stopped(process: psutil.Process, seconds: float) -> Iterator[None]:
    """Suspend a process and its descendants for a time."""
    end = time.monotonic() + seconds
    suspended = [*process.children(recursive=True), process]
    for each in suspended:
        each.suspend()
    try:
        yield
        time.sleep(max(0.0, end - time.monotonic()))
    finally:
        for each in suspended:
            each.resume()
