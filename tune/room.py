"""Whether a cluster has room for trials: said at once where it has none, and when it has lost it.

Ray itself would wait in silence, and for ever.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, Self

import ray
from ray.autoscaler.sdk import request_resources

from actmodels.errors import SweepError

EVERY = 2.0  # seconds between looks
GRACE = 15.0  # seconds that Ray has for an orderly end; without a node it may never come


def nodes() -> list[dict[str, Any]]:
    """The nodes of the connected cluster that are alive."""
    found: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    return [node for node in found if node["Alive"]]


def places(resources: Mapping[str, float]) -> int:
    """How many packs with these resources (cpu, gpu) the connected cluster trains at a time."""
    count = 0
    for node in nodes():
        there = {name: node["Resources"].get(name.upper(), 0) for name in resources}
        # a hair more: four shares of 0.25 of a GPU may be a rounding error too many
        fitting = [there[name] / amount + 1e-6 for name, amount in resources.items() if amount]
        count += int(min(fitting))
    return count


def await_room(resources: Mapping[str, float], seconds: float) -> None:
    """Ask the cluster for room for one pack, and wait until it has it.

    Args:
        seconds: how long; a cluster that can grow is asked to.

    Raises:
        SweepError: it has none; says what is there, what a trial asks for, and what to set.
    """
    end = time.monotonic() + seconds
    if seconds and not places(resources):
        request_resources(bundles=[{name.upper(): n for name, n in resources.items() if n}])
    while not places(resources):
        if time.monotonic() >= end:
            raise SweepError(_no_room(resources, seconds))
        time.sleep(0.5)


def _no_room(resources: Mapping[str, float], seconds: float) -> str:
    asked = " and ".join(
        f"{amount:g} {name.upper()}s (cluster.{name}s_per_trial)"
        for name, amount in resources.items()
        if amount
    )
    there = sorted(
        f"{node['NodeManagerAddress']} with {node['Resources'].get('CPU', 0):g} CPUs and "
        f"{node['Resources'].get('GPU', 0):g} GPUs"
        for node in nodes()
    )
    more = f" and {len(there) - 3} more" if len(there) > 3 else ""
    waited = f" after {seconds:g} s (cluster.wait_for_nodes)" if seconds else ""
    return (
        f"no node has room for a trial{waited}: it asks for {asked}; there is "
        f"{', '.join(there[:3]) or 'no node'}{more}; lower what a trial asks for in params.yaml, "
        "or start a node that has it"
    )


class Watch:
    """Looks at the cluster from a thread of its own while trials run.

    Use as a context. Where no node has room for a trial any more, not even an empty one, the main
    thread is interrupted as by Ctrl-C, and the context ends with a SweepError.

    Args:
        resources: what Ray sets aside for one pack (cpu, gpu).
        patience: seconds that such a state may last.
    """

    def __init__(self, resources: Mapping[str, float], patience: float) -> None:
        self.resources, self.patience = resources, patience
        self.lost = False
        self.over = threading.Event()
        self.error = SweepError(
            "the cluster has no node left that can run a trial; nothing is lost: run the same "
            "command again to go on"
        )

    def __enter__(self) -> Self:
        threading.Thread(target=self._look, name="watch", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        if self.lost:
            raise self.error

    def _look(self) -> None:
        last_seen = time.monotonic()
        while not self.over.wait(EVERY):
            try:
                there = places(self.resources) > 0
            except (ray.exceptions.RayError, OSError, RuntimeError):
                there = True  # the head does not answer, which Ray itself ends in time
            if there:
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > self.patience:
                self.lost = True
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                if not self.over.wait(GRACE):
                    print(f"\nerror: {self.error}", file=sys.stderr, flush=True)
                    os._exit(1)
                return
