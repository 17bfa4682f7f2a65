"""Whether a cluster has room for trials, now and later; Ray itself would wait for ever."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self

import ray
from ray.autoscaler.sdk import request_resources

from actmodels.errors import SweepError
from tune.nodes import Nodes, listens

EVERY = 2.0  # seconds between looks
GRACE = 5.0  # seconds that Ray has for an orderly end; without a node it may never come


def wait_for_resources(nodes: Nodes, resources: Mapping[str, float], seconds: float) -> None:
    """Ask for room for one fusion and wait for it; SweepError says what to set."""
    begin = time.monotonic()
    if nodes.places(resources):
        return
    if seconds:
        request_resources(bundles=[{name.upper(): n for name, n in resources.items() if n}])
    try:
        while not nodes.places(resources):
            waited = time.monotonic() - begin
            if waited >= seconds and not nodes.asked:
                raise SweepError(_no_room(nodes, resources, waited if seconds else 0))
            time.sleep(0.5)
            nodes.look()
    finally:
        if seconds:  # else the cluster would keep that room when all is done
            request_resources(bundles=[])


def _no_room(nodes: Nodes, resources: Mapping[str, float], seconds: float) -> str:
    asked = [f"{n:g} {k.upper()}s (cluster.{k}s_per_trial)" for k, n in resources.items() if n]
    there = sorted(
        f"{node['NodeManagerAddress']} with {node['Resources'].get('CPU', 0):g} CPUs and "
        f"{node['Resources'].get('GPU', 0):g} GPUs"
        for node in nodes.usable()
    )
    more = f" and {len(there) - 3} more" if len(there) > 3 else ""
    nothing = "no node that can be used" if nodes.excluded else "no node"
    waited = f" after {seconds:.0f} s (cluster.wait_for_nodes)" if seconds else ""
    return (
        f"no node has room for a trial{waited}: it asks for {' and '.join(asked)}; there is "
        f"{', '.join(there[:3]) or nothing}{more}; lower what a trial asks for in params.yaml, "
        "or start a node that has it"
    )


class ClusterMonitor:
    """Looks at the cluster from threads of its own while trials run; a context.

    Where no node, not even an empty one, has had room for a trial for `patience` seconds, or one
    of the `needed` addresses does not answer, that is said at once, the main thread is interrupted
    as by Ctrl-C, and the context ends with a SweepError that says no more: by then Ray may have
    ended the process, in words of its own. Nodes that join are looked at.
    """

    def __init__(
        self,
        nodes: Nodes,
        resources: Mapping[str, float],
        patience: float,
        needed: Mapping[str, str],
    ) -> None:
        self.nodes, self.resources, self.patience, self.needed = nodes, resources, patience, needed
        self.lost = False
        self.over = threading.Event()

    def __enter__(self) -> Self:
        self._watch(self._has_room, self.patience, "the cluster has no node left for a trial")
        patience = 15.0 if self.nodes.joined else 0.0  # a local Ray does not come back
        for address, what in self.needed.items():
            self._watch(partial(listens, address), patience, f"{what}, {address}, is gone")
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        if self.lost:
            raise SweepError

    def _has_room(self) -> bool:
        try:
            self.nodes.look()
            return self.nodes.places(self.resources) > 0
        except (ray.exceptions.RayError, OSError, RuntimeError):
            return True  # the head does not answer, which is seen to elsewhere

    def _watch(self, *what: Any) -> None:
        threading.Thread(target=self._await_loss, args=what, name="watch", daemon=True).start()

    def _await_loss(self, there: Callable[[], bool], patience: float, what: str) -> None:
        last_seen = time.monotonic()
        while not self.over.wait(EVERY):
            if there():
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > patience and not self.lost:
                self.lost = True
                again = "nothing is lost: run the same command again to go on"
                print(f"\nerror: {what}; {again}", file=sys.stderr, flush=True)
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                if not self.over.wait(GRACE):
                    os._exit(1)
                return


def needed() -> dict[str, str]:
    """What a connected driver cannot be without: the head, and the node that it is on."""
    context = ray.get_runtime_context()
    found: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    own = next(node for node in found if node["NodeID"] == context.get_node_id())
    port = own["NodeManagerPort"]
    return {
        context.gcs_address: "the head of the Ray cluster",
        f"{own['NodeManagerAddress']}:{port}": "the Ray node of this machine",
    }
