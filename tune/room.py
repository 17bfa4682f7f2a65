"""Whether a cluster has room for trials: said at once where it has none, and when it has lost it.

Ray itself would wait in silence, and for ever.
"""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Self

import ray
from ray.autoscaler.sdk import request_resources

from actmodels.errors import SweepError
from tune.nodes import Nodes

EVERY = 2.0  # seconds between looks
GRACE = 5.0  # seconds that Ray has for an orderly end; without a node it may never come


def await_room(nodes: Nodes, resources: Mapping[str, float], seconds: float) -> None:
    """Ask the cluster for room for one pack, and wait until it has it.

    Args:
        seconds: how long; a cluster that can grow is asked to.

    Raises:
        SweepError: it has none; says what is there, what a trial asks for, and what to set.
    """
    end = time.monotonic() + seconds
    if seconds and not nodes.places(resources):
        request_resources(bundles=[{name.upper(): n for name, n in resources.items() if n}])
    while not nodes.places(resources):
        if time.monotonic() >= end:
            raise SweepError(_no_room(nodes, resources, seconds))
        time.sleep(0.5)


def _no_room(nodes: Nodes, resources: Mapping[str, float], seconds: float) -> str:
    asked = " and ".join(
        f"{amount:g} {name.upper()}s (cluster.{name}s_per_trial)"
        for name, amount in resources.items()
        if amount
    )
    there = sorted(
        f"{node['NodeManagerAddress']} with {node['Resources'].get('CPU', 0):g} CPUs and "
        f"{node['Resources'].get('GPU', 0):g} GPUs"
        for node in nodes.usable()
    )
    more = f" and {len(there) - 3} more" if len(there) > 3 else ""
    nothing = "no node that can be used" if nodes.avoided else "no node"
    waited = f" after {seconds:g} s (cluster.wait_for_nodes)" if seconds else ""
    return (
        f"no node has room for a trial{waited}: it asks for {asked}; there is "
        f"{', '.join(there[:3]) or nothing}{more}; lower what a trial asks for in params.yaml, "
        "or start a node that has it"
    )


class Watch:
    """Looks at the cluster from a thread of its own while trials run.

    Use as a context. Where no node has room for a trial any more, not even an empty one, or the
    head does not answer, the main thread is interrupted as by Ctrl-C, and the context ends with a
    SweepError. Nodes that join are looked at before they are believed.

    Args:
        resources: what Ray sets aside for one pack (cpu, gpu).
        patience: seconds that such a state may last. head: its address, if that is looked at.
    """

    def __init__(
        self, nodes: Nodes, resources: Mapping[str, float], patience: float, head: str = ""
    ) -> None:
        self.nodes, self.resources, self.patience = nodes, resources, patience
        self.head = head
        self.lost = ""
        self.over = threading.Event()

    def __enter__(self) -> Self:
        for look in [self._look_at_room] + [self._look_at_head] * bool(self.head):
            threading.Thread(target=look, name="watch", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        if self.lost:
            raise SweepError(self.lost)

    def _look_at_room(self) -> None:
        def there() -> bool:
            try:
                self.nodes.look()
                return self.nodes.places(self.resources) > 0
            except (ray.exceptions.RayError, OSError, RuntimeError):
                return True  # the head does not answer: see below

        self._await_loss(there, self.patience, "has no node left that can run a trial")

    def _look_at_head(self) -> None:
        def there() -> bool:
            host, _, port = self.head.rpartition(":")
            try:
                socket.create_connection((host.strip("[]"), int(port)), timeout=EVERY).close()
            except OSError:
                return False
            return True

        # Ray itself ends the process after a while, in words of its own
        patience = 15.0 if self.nodes.joined else 3.0
        self._await_loss(there, patience, f"at {self.head} is gone; start it again")

    def _await_loss(self, there: Callable[[], bool], patience: float, what: str) -> None:
        last_seen = time.monotonic()
        while not self.over.wait(EVERY):
            if there():
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > patience:
                self.lost = (
                    f"the cluster {what}; nothing is lost: run the same command again to go on"
                )
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                if not self.over.wait(GRACE):
                    print(f"\nerror: {self.lost}", file=sys.stderr, flush=True)
                    os._exit(1)
                return
