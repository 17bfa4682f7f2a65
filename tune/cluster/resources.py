"""Wait for resources and monitor the cluster; Ray itself would wait forever."""

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Self

import ray
from ray.autoscaler.sdk import request_resources

from actmodels.errors import SweepError
from tune.cluster.local_ray import TERMINATED, session_logs
from tune.cluster.nodes import Nodes
from tune.progress import say
from tune.tracking.tracking_uri import is_listening

INTERVAL = 2.0  # seconds between checks
RECONNECT = 15.0  # seconds for a lost head to return; a local Ray does not return
WORKER_NOTE, WORKER_TIMEOUT = 60.0, 300.0  # seconds without any worker on a local Ray
SHUTDOWN = 5.0  # seconds for an orderly end, which without a node may never come


def wait_for_resources(nodes: Nodes, timeout: float) -> None:
    """Request the resources of one fusion and wait for them.

    timeout: seconds; 0 for a cluster that cannot grow.

    Raises:
        SweepError: no node has these resources; names the settings to change.
    """
    begin = time.monotonic()
    if nodes.count_capacity():
        _print_idle_gpus(nodes)
        return
    if timeout:
        request_resources(bundles=[nodes.resources])
    try:
        while not nodes.count_capacity():
            waited = time.monotonic() - begin
            if waited >= timeout and not nodes.pending:
                raise SweepError(_missing_resources(nodes, waited if timeout else 0))
            time.sleep(0.5)
            nodes.check_new()
    finally:
        if timeout:  # else the cluster would keep these resources after the sweep
            request_resources(bundles=[])


def _print_idle_gpus(nodes: Nodes) -> None:
    """Print a note if the nodes have too few CPUs for their GPUs."""
    if share := nodes.resources.get("GPU", 0):
        gpus = sum(int(node["Resources"].get("GPU", 0) / share + 1e-6) for node in nodes.usable())
        if nodes.capacity < min(gpus, nodes.most):
            room = f"{gpus} trials at the same time, the CPUs for {nodes.capacity}"
            needs = f"each needs {nodes.resources['CPU']:g} (cluster.cpus_per_trial)"
            print(f"the GPUs have room for {room}: {needs}", file=sys.stderr, flush=True)


def _missing_resources(nodes: Nodes, waited: float) -> str:
    needs = [
        f"{n:g} {name}s (cluster.{name.lower()}s_per_trial)" for name, n in nodes.resources.items()
    ]
    available = sorted(
        f"{node['NodeManagerAddress']} with {node['Resources'].get('CPU', 0):g} CPUs and "
        f"{node['Resources'].get('GPU', 0):g} GPUs"
        for node in nodes.usable()
    )
    more = f" and {len(available) - 3} more" if len(available) > 3 else ""
    none = "no node that can be used" if nodes.excluded else "no node"
    after = f" after {waited:.0f} s (cluster.patience)" if waited else ""
    return (
        f"no node has the resources of a trial{after}: it needs {' and '.join(needs)}; there is "
        f"{', '.join(available[:3]) or none}{more}; lower these settings in params.yaml, or start "
        "a node with the resources"
    )


class ClusterMonitor:
    """Monitor the cluster in threads while trials run; a context.

    If no node has had the resources of a trial for `timeout` seconds, or a required address does
    not answer, print the error, interrupt the main thread as Ctrl-C does, and raise an empty
    SweepError at the end. It prints immediately because Ray may end the process first. New nodes
    are checked. On a local Ray a trial must run: Ray waits forever for workers that do not start.

    required: addresses and what listens there, see `required_addresses`.
    running: trials that run at the moment.
    """

    def __init__(
        self, nodes: Nodes, timeout: float, required: dict[str, str], running: Collection[str]
    ) -> None:
        self.nodes, self.timeout, self.required = nodes, timeout, required
        self.running, self.last_worker, self.logs = running, time.monotonic(), session_logs()
        self.ending = self.failed = False
        self.closed = threading.Event()

    def __enter__(self) -> Self:
        self._start(self._has_capacity, self.timeout, "the cluster has no node left for a trial")
        timeout = RECONNECT if self.nodes.external else 0.0
        for address, name in self.required.items():
            self._start(partial(is_listening, address), timeout, f"{name}, {address}, is gone")
        if not self.nodes.external:  # nodes of a cluster are checked by a worker
            problem = f"Ray started no worker for {WORKER_TIMEOUT:g} s (logs in {self.logs})"
            self._start(self._has_worker, WORKER_TIMEOUT, problem)
        return self

    def __exit__(self, *_: object) -> None:
        self.closed.set()
        if self.failed:
            raise SweepError

    def _has_capacity(self) -> bool:
        try:
            self.nodes.check_new()
            return self.nodes.count_capacity() > 0
        except (ray.exceptions.RayError, OSError, RuntimeError):
            return True  # the head does not answer, which its own thread notices

    def _has_worker(self) -> bool:
        """Return whether a trial runs; after a minute without one, print the raylet's reason."""
        now, errors = time.monotonic(), self.logs / "raylet.err"
        if self.running:
            self.last_worker = now
        elif now - self.last_worker > WORKER_NOTE:
            self.last_worker = math.inf  # print it once
            text = errors.read_text(errors="replace") if errors.is_file() else ""
            reason = (text.strip().splitlines() or ["no reason known"])[-1]
            note = (
                f"Ray has started no worker for {WORKER_NOTE:g} s ({reason}; logs in {self.logs})"
            )
            say(note)
        return bool(self.running)

    def _start(self, *arguments: Any) -> None:
        threading.Thread(target=self._run, args=arguments, name="monitor", daemon=True).start()

    def _run(self, check: Callable[[], bool], timeout: float, problem: str) -> None:
        last_success = time.monotonic()
        while not self.closed.wait(INTERVAL):
            if check():
                last_success = time.monotonic()
            elif time.monotonic() - last_success > timeout and not self.ending:
                self.ending = True
                self.failed = not TERMINATED.is_set()
                if self.failed:
                    resume = "nothing is lost: run the same command again to resume"
                    print(f"\nerror: {problem}; {resume}", file=sys.stderr, flush=True)
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                if not self.closed.wait(SHUTDOWN):
                    os._exit(1)
                return


def required_addresses(nodes: Nodes) -> dict[str, str]:
    """Return the addresses that the driver needs: the head, and the node of this machine."""
    context = ray.get_runtime_context()
    driver = next(node for node in nodes.alive() if node["NodeID"] == context.get_node_id())
    raylet = f"{driver['NodeManagerAddress']}:{driver['NodeManagerPort']}"
    return {
        context.gcs_address: "the head of the Ray cluster",
        raylet: "the Ray node of this machine",
    }
