"""Which nodes of a cluster can train: looked at before the first trial, and when they join."""

import secrets
import socket
import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import ray
import torch
from ray.tune import PlacementGroupFactory
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from tune.node_check import NodeCheck, NodeError, name_of
from tune.storage import Storage

FIRST = 20.0  # seconds that the trials wait for nodes to answer: they start Python, import torch
AGAIN = 10.0  # seconds until a node that is not used is asked again, each time twice as many


class Nodes:
    """The nodes of the connected cluster; a context that begins with a look.

    joined: the cluster was there before; a local Ray's only node is this machine itself.
    good: nodes that can train, by id. excluded: those that cannot, and when to ask them again.
    reasons: why nodes are or were not used, each time. asked: those that have `answer` seconds to
    answer, with their answers and since when. room: the places that were last counted.
    """

    def __init__(
        self, checkpoints: Storage, *, joined: bool, answer: float = 180.0, cuda: bool = False
    ) -> None:
        self.gate = NodeCheck(checkpoints, f"seen-{secrets.token_hex(8)}", torch.__version__, cuda)
        self.joined, self.answer = joined, answer
        self.good: set[str] = set()
        self.excluded: dict[str, float] = {}
        self.reasons: defaultdict[str, list[str]] = defaultdict(list)
        self.asked: dict[str, tuple[Any, float]] = {}
        self.room = 0
        self.over = False

    def __enter__(self) -> "Nodes":
        self.gate.checkpoints.write(self.gate.token, self.gate.token.encode())
        self.look(FIRST)
        return self

    def __exit__(self, *_: object) -> None:
        self.over = True  # who has not answered yet will not find the token
        self.gate.checkpoints.remove(self.gate.token)

    def alive(self) -> list[dict[str, Any]]:
        """All nodes, as Ray tells of them."""
        found: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
        return [node for node in found if node["Alive"]]

    def usable(self) -> list[dict[str, Any]]:
        """Those that can train."""
        return [node for node in self.alive() if not self.joined or node["NodeID"] in self.good]

    def places(self, resources: Mapping[str, float]) -> int:
        """How many fusions with these resources (cpu, gpu) are trained at a time."""
        count = 0
        for node in self.usable():
            there = {name: node["Resources"].get(name.upper(), 0) for name in resources}
            # a hair more: four shares of 0.25 of a GPU may be a rounding error too many
            fitting = [there[name] / amount + 1e-6 for name, amount in resources.items() if amount]
            count += int(min(fitting))
        self.room = count
        return count

    def look(self, seconds: float = 0) -> None:
        """Ask new nodes, wait so long for answers, and say which nodes are not used."""
        if not self.joined:
            return
        now, alive = time.monotonic(), {node["NodeID"]: node for node in self.alive()}
        there = {node: found["NodeManagerAddress"] for node, found in alive.items()}
        for node in there.keys() - self.good - self.asked.keys():
            if self.excluded.get(node, now) <= now:
                there_alone = NodeAffinitySchedulingStrategy(node, soft=False)
                ask: Any = ray.remote(num_cpus=0, max_retries=0, max_calls=1)(
                    NodeCheck.pass_through
                )
                ask = ask.options(scheduling_strategy=there_alone)
                cuda = self.gate.cuda and "GPU" in alive[node]["Resources"]
                self.asked[node] = (ask.remote(replace(self.gate, cuda=cuda)), now)
        if self.asked:
            awaited = [said for said, _ in self.asked.values()]
            ray.wait(awaited, num_returns=len(awaited), timeout=seconds)
        for node, (said, since) in list(self.asked.items()):
            problem = self._problem(node, said, since)
            if problem is None and node in there:
                continue
            if self.asked.pop(node, None) is None:
                continue  # a fusion was faster to find out, see `recheck_node`
            if problem == "":
                self.good.add(node)
                if self.excluded.pop(node, None):
                    _say(there[node], node, "is used again")
            elif problem and node in there and not self.over:
                self.exclude_node(node, there[node], problem)

    def exclude_node(self, node: str, address: str, why: str) -> None:
        """Do not use a node until it passes a later check."""
        self.good.discard(node)
        known = self.reasons[node]
        self.excluded[node] = time.monotonic() + AGAIN * 2 ** len(known)
        if why not in known[-1:]:
            _say(address, node, f"is not used: {why}")
        known.append(why)

    def _problem(self, node: str, said: Any, since: float) -> str | None:
        """What is wrong with a node: "" if it can train, None if it has not answered."""
        try:
            ray.get(said, timeout=0)
        except ray.exceptions.GetTimeoutError:
            waited = time.monotonic() - since
            if waited < self.answer:
                return None
            ray.cancel(said, force=True)
            return f"it did not answer within {waited:.0f} s (cluster.wait_for_answer)"
        except ray.exceptions.RayError as error:
            last = str(error).strip().splitlines()[-1]
            return last.removeprefix(f"{name_of(NodeError)}: node {node[:8]} ")
        return ""

    def awaited_store(self) -> bool:
        """Return whether the driver did not see the store either, and wait until it does."""
        place, token = self.gate.checkpoints, self.gate.token
        try:
            replace(place, patience=0.0).read(token)
        except OSError:
            place.read(token)
            return True
        return False

    def recheck_node(self, said: str) -> None:
        """Avoid a node on which a NodeError was raised; what it said begins with its id."""
        _, prefix, why = said.split(" ", 2)
        for node in self.alive():
            name = node["NodeID"]
            if name.startswith(prefix) and name not in self.excluded:
                self.asked.pop(name, None)
                self.exclude_node(name, node["NodeManagerAddress"], why)

    def lost(self, address: str) -> bool:
        """Whether a node that trained does not answer any more."""
        found = (node for node in self.alive() if node["NodeManagerAddress"] == address)
        return not any(listens(f"{address}:{node['NodeManagerPort']}") for node in found)


def _say(address: str, node: str, what: str) -> None:
    print(f"node {address} ({node[:8]}) {what}", file=sys.stderr, flush=True)


def listens(address: str, seconds: float = 2.0) -> bool:
    """Whether somebody listens at host:port."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=seconds).close()
    except OSError:
        return False
    return True


class Placement(PlacementGroupFactory):
    """The resources of one fusion, on any node that is not known to be unfit.

    One that has not answered yet may be chosen: once excluded it stays so until a place is found.
    """

    def __init__(self, resources: Mapping[str, float], nodes: Nodes) -> None:
        super().__init__([{name.upper(): amount for name, amount in resources.items() if amount}])
        self.nodes = nodes

    def to_placement_group(self) -> Any:
        """What Ray Tune asks for when it has a fusion to start."""
        unfit = sorted(self.nodes.excluded)
        if not unfit:
            return super().to_placement_group()  # type: ignore[no-untyped-call]
        elsewhere = {"ray.io/node-id": f"!in({','.join(unfit)})"}
        return placement_group(self.bundles, bundle_label_selector=[elsewhere])
