"""Which nodes of a cluster can train: looked at before the first trial, and when they join.

A node needs the Python, Ray and torch of this machine, and has to see the store of the trials in
progress. One that does not fit is named and not used.
"""

import platform
import secrets
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any

import ray
from ray.tune import PlacementGroupFactory
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from tune.storage import Storage

FIRST = 20.0  # seconds that the trials wait for nodes to answer: they start Python, import torch
ANSWER = 180.0  # seconds that a node has altogether


class NodeError(ray.exceptions.RayActorError):
    """A node cannot train; no fault of the trial, so that its restarts stay what they are.

    Ray counts a failure unless the node was preempted, and that is what it is: taken away.
    """

    def __init__(self, message: str) -> None:
        super().__init__(error_msg=message, preempted=True)

    def __reduce__(self) -> Any:
        return (type(self), (self.error_msg,))


class FullError(NodeError):
    """There is no room for checkpoints; no fault of the trial either."""


def name_of(error: type[Exception]) -> str:
    """What an error is called at the end of a trace."""
    return f"{error.__module__}.{error.__qualname__}"


def versions() -> dict[str, str]:
    """What decides whether code that runs here runs there, and gives the same numbers."""
    import torch

    python = ".".join(platform.python_version_tuple()[:2])
    return {"Python": python, "Ray": ray.__version__, "torch": torch.__version__}


def sees(checkpoints: Storage, token: str) -> None:
    """Read what the driver wrote; NodeError, on a worker, if it is not there.

    Args:
        token: the file's name and what it holds.
    """
    try:
        found = checkpoints.read(token).decode()
        problem = "" if found == token else "it holds other files"
    except OSError as error:
        problem = str(error.strerror or error).splitlines()[0]
    if problem:
        node = ray.get_runtime_context().get_node_id()
        raise NodeError(
            f"node {node[:8]} does not see {checkpoints.place} as this machine does ({problem})"
        )


def answer(checkpoints: Storage, token: str) -> dict[str, str]:
    """What a node says of itself."""
    found = versions()
    sees(checkpoints, token)
    name = f"{token}-{ray.get_runtime_context().get_node_id()}"
    checkpoints.write(name, token.encode())
    return found


class Nodes:
    """The nodes of the connected cluster.

    Use as a context: it begins with a look.

    Args:
        checkpoints: of the trials in progress, which all nodes must see.
        joined: the cluster was there before; a local Ray's only node is this machine itself.

    Attributes:
        token: name of a file in the store that tells it from any other, while the sweep runs.
        good: nodes that can train, by id. avoided: those that cannot.
        asked: those that have not answered yet, with their answers and since when.
        room: the places that were last counted.
    """

    def __init__(self, checkpoints: Storage, *, joined: bool) -> None:
        self.checkpoints, self.joined = checkpoints, joined
        self.token = f"seen-{secrets.token_hex(8)}"
        self.good: set[str] = set()
        self.avoided: set[str] = set()
        self.asked: dict[str, tuple[Any, float]] = {}
        self.room = 0
        self.over = False

    def __enter__(self) -> "Nodes":
        self.checkpoints.write(self.token, self.token.encode())
        self.look(FIRST)
        return self

    def __exit__(self, *_: object) -> None:
        self.over = True  # who has not answered yet will not find the token
        self.checkpoints.remove(self.token)

    def alive(self) -> list[dict[str, Any]]:
        """All nodes, as Ray tells of them."""
        found: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
        return [node for node in found if node["Alive"]]

    def usable(self) -> list[dict[str, Any]]:
        """Those that can train."""
        return [node for node in self.alive() if not self.joined or node["NodeID"] in self.good]

    def unusable(self) -> list[str]:
        """The ids of the others."""
        others = self.joined and {node["NodeID"] for node in self.alive()} - self.good
        return sorted(others or ())

    def places(self, resources: Mapping[str, float]) -> int:
        """How many packs with these resources (cpu, gpu) are trained at a time."""
        count = 0
        for node in self.usable():
            there = {name: node["Resources"].get(name.upper(), 0) for name in resources}
            # a hair more: four shares of 0.25 of a GPU may be a rounding error too many
            fitting = [there[name] / amount + 1e-6 for name, amount in resources.items() if amount]
            count += int(min(fitting))
        self.room = count
        return count

    def look(self, seconds: float = 0) -> None:
        """Ask the nodes that have come, and say which of those that answer are not used.

        Args:
            seconds: to wait for answers; what comes later is for the next look.
        """
        if not self.joined:
            return
        there = {node["NodeID"]: node["NodeManagerAddress"] for node in self.alive()}
        for node in there.keys() - self.good - self.avoided - self.asked.keys():
            there_alone = NodeAffinitySchedulingStrategy(node, soft=False)
            ask: Any = ray.remote(num_cpus=0, max_retries=0)(answer)
            ask = ask.options(scheduling_strategy=there_alone)
            self.asked[node] = (ask.remote(self.checkpoints, self.token), time.monotonic())
        if self.asked:
            awaited = [said for said, _ in self.asked.values()]
            ray.wait(awaited, num_returns=len(awaited), timeout=seconds)
        for node, (said, since) in list(self.asked.items()):
            problem = self._problem(node, said, since)
            if problem is None and node in there:
                continue
            del self.asked[node]
            if problem == "":
                self.good.add(node)
            elif problem and node in there and not self.over:
                self.avoid(node, there[node], problem)

    def avoid(self, node: str, address: str, why: str) -> None:
        """Use a node no more."""
        self.good.discard(node)
        self.avoided.add(node)
        told = f"node {address} ({node[:8]}) is not used: {why}"
        print(told, file=sys.stderr, flush=True)

    def _problem(self, node: str, said: Any, since: float) -> str | None:
        """What is wrong with a node: "" if it can train, None if it has not answered."""
        try:
            found: dict[str, str] = ray.get(said, timeout=0)
        except ray.exceptions.GetTimeoutError:
            if time.monotonic() - since < ANSWER:
                return None
            ray.cancel(said, force=True)
            return f"it did not answer within {ANSWER:g} s"
        except ray.exceptions.RayError as error:
            last = str(error).strip().splitlines()[-1]
            return last.removeprefix(f"{name_of(NodeError)}: node {node[:8]} ")
        for name, here in versions().items():
            if found[name] != here:
                return f"it has {name} {found[name]}, this machine {here}; install the same"
        name = f"{self.token}-{node}"
        if not self.checkpoints.holds(name):
            return f"what it writes to {self.checkpoints.place} does not arrive here"
        self.checkpoints.remove(name)
        return ""

    def distrust(self, said: str) -> None:
        """Avoid a node on which a NodeError was raised; what it said begins with its id."""
        _, prefix, why = said.split(" ", 2)
        for node in self.usable():
            if node["NodeID"].startswith(prefix):
                self.avoid(node["NodeID"], node["NodeManagerAddress"], why)

    def lost(self, address: str) -> bool:
        """Whether a node that trained does not answer any more."""
        found = [node for node in self.alive() if node["NodeManagerAddress"] == address]
        return not any(listens(f"{address}:{node['NodeManagerPort']}") for node in found)


def listens(address: str, seconds: float = 2.0) -> bool:
    """Whether somebody listens at host:port."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=seconds).close()
    except OSError:
        return False
    return True


class Placement(PlacementGroupFactory):
    """The resources of one pack, on any node that can train by then."""

    def __init__(self, resources: Mapping[str, float], nodes: Nodes) -> None:
        super().__init__([{name.upper(): amount for name, amount in resources.items() if amount}])
        self.nodes = nodes

    def to_placement_group(self) -> Any:
        """What Ray Tune asks for when it has a pack to start."""
        others = self.nodes.unusable()
        if not others:
            return super().to_placement_group()  # type: ignore[no-untyped-call]
        elsewhere = {"ray.io/node-id": f"!in({','.join(others)})"}
        return placement_group(self.bundles, bundle_label_selector=[elsewhere])
