"""Which nodes of the cluster can train: checked before the first trial, and when they join."""

import os
import secrets
import sys
import time
from collections import defaultdict
from dataclasses import replace
from typing import Any

import ray
import torch
from ray.tune import PlacementGroupFactory
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from tune.cluster.node_check import NodeCheck, NodeError, qualified_name
from tune.tracking.tracking_uri import is_listening
from tune.trials.execution import Execution

FIRST_WAIT = 20.0  # seconds for the first checks, which start Python and import torch
START = 60.0  # seconds for that on a slow node, before its check waits for the storage
RECHECK = 10.0  # seconds until an excluded node is checked again; doubles each time

Node = dict[str, Any]  # as ray.nodes() lists it


class Nodes:
    """The nodes of the connected cluster; a context that begins with a check.

    A local Ray has one node, this machine, which is not checked.

    Attributes:
        external: whether trials run on an existing cluster, not on a local Ray.
        passed: ids of nodes that passed the check.
        excluded: ids of nodes that failed it, with the time of the next check.
        problems: why a node was excluded, each time, by id.
        pending: results of running checks and their starting times, by id.
        most: number of fusions that may train at the same time.
        capacity: number of fusions that can train at the same time, as last counted.
    """

    def __init__(self, execution: Execution) -> None:
        token, cuda = f"seen-{secrets.token_hex(8)}", execution.device == "cuda"
        self.check = NodeCheck(execution.checkpoints, token, torch.__version__, cuda)
        self.resources, self.timeout = execution.resources, START + execution.patience
        self.external = bool(os.environ.get("RAY_ADDRESS"))
        self.passed: set[str] = set()
        self.excluded: dict[str, float] = {}
        self.problems: defaultdict[str, list[str]] = defaultdict(list)
        self.pending: dict[str, tuple[Any, float]] = {}
        self.most = execution.max_concurrent or sys.maxsize
        self.capacity = 0
        self.closed = False

    def __enter__(self) -> "Nodes":
        self.check.checkpoints.write(self.check.token, self.check.token.encode())
        self.check_new(FIRST_WAIT)
        return self

    def __exit__(self, *_: object) -> None:
        self.closed = True  # checks still running will not find the token
        self.check.checkpoints.remove(self.check.token)

    def alive(self) -> list[Node]:
        """Return the nodes that Ray regards as alive."""
        nodes: list[Node] = ray.nodes()  # type: ignore[no-untyped-call]
        return [node for node in nodes if node["Alive"]]

    def usable(self) -> list[Node]:
        """Return the nodes that can train."""
        return [node for node in self.alive() if not self.external or node["NodeID"] in self.passed]

    def count_capacity(self) -> int:
        """Update and return the number of fusions that can train at the same time."""
        # 1e-6: four shares of 0.25 of a GPU may exceed it by a rounding error
        room = sum(
            int(min(node["Resources"].get(k, 0) / n + 1e-6 for k, n in self.resources.items()))
            for node in self.usable()
        )
        self.capacity = min(room, self.most)
        return self.capacity

    def check_new(self, timeout: float = 0) -> None:
        """Check new nodes and excluded ones whose time has come; print changes.

        timeout: seconds to wait for the results; later ones are read at the next call.
        """
        if not self.external:
            return
        now, alive = time.monotonic(), {node["NodeID"]: node for node in self.alive()}
        for key in alive.keys() - self.passed - self.pending.keys():
            if self.excluded.get(key, now) <= now:
                self.pending[key] = (self._start_check(alive[key]), now)
        if self.pending:
            results = [result for result, _ in self.pending.values()]
            ray.wait(results, num_returns=len(results), timeout=timeout)
        for key, (result, since) in list(self.pending.items()):
            problem = self._problem(key, result, since)
            if problem is None and key in alive:
                continue
            if self.pending.pop(key, None) is None:
                continue  # a fusion reported its NodeError first, see `exclude_failed`
            if problem == "":
                self.passed.add(key)
                if self.excluded.pop(key, None):
                    _print(alive[key], "is used again")
            elif problem and key in alive and not self.closed:
                self.exclude_node(alive[key], problem)

    def _start_check(self, node: Node) -> Any:
        check: Any = ray.remote(num_cpus=0, max_retries=0, max_calls=1)(NodeCheck.run)
        strategy = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        cuda = self.check.cuda and "GPU" in node["Resources"]
        return check.options(scheduling_strategy=strategy).remote(replace(self.check, cuda=cuda))

    def _problem(self, key: str, result: Any, since: float) -> str | None:
        """Return why a node cannot train, "" if it can, None while its check runs."""
        try:
            ray.get(result, timeout=0)
        except ray.exceptions.GetTimeoutError:
            waited = time.monotonic() - since
            if waited < self.timeout:
                return None
            ray.cancel(result, force=True)
            return f"it did not answer within {waited:.0f} s (cluster.patience)"
        except ray.exceptions.RayError as error:
            last = str(error).strip().splitlines()[-1]
            return last.removeprefix(f"{qualified_name(NodeError)}: node {key[:8]} ")
        return ""

    def exclude_node(self, node: Node, problem: str) -> None:
        """Do not use a node until it passes a later check."""
        self.passed.discard(node["NodeID"])
        problems = self.problems[node["NodeID"]]
        self.excluded[node["NodeID"]] = time.monotonic() + RECHECK * 2 ** len(problems)
        if problem not in problems[-1:]:
            _print(node, f"is not used: {problem}")
        problems.append(problem)

    def exclude_failed(self, message: str) -> None:
        """Exclude the node that raised a NodeError with this message."""
        _, prefix, problem = message.split(" ", 2)
        for node in self.alive():
            key = node["NodeID"]
            if key.startswith(prefix) and key not in self.excluded:
                self.pending.pop(key, None)
                self.exclude_node(node, problem)

    def storage_was_unreachable(self) -> bool:
        """Return whether the driver cannot reach the storage either; wait until it can."""
        storage, token = self.check.checkpoints, self.check.token
        try:
            replace(storage, retry_seconds=0.0).read(token)
        except OSError:
            storage.read(token)
            return True
        return False

    def is_gone(self, address: str) -> bool:
        """Return whether no raylet listens on a node that trained."""
        nodes = (node for node in self.alive() if node["NodeManagerAddress"] == address)
        return not any(is_listening(f"{address}:{node['NodeManagerPort']}") for node in nodes)


def _print(node: Node, text: str) -> None:
    message = f"node {node['NodeManagerAddress']} ({node['NodeID'][:8]}) {text}"
    print(message, file=sys.stderr, flush=True)


class Placement(PlacementGroupFactory):
    """The resources of one fusion, on any node that is not excluded; its check may be pending."""

    def __init__(self, nodes: Nodes) -> None:
        super().__init__([nodes.resources])
        self.nodes = nodes

    def to_placement_group(self) -> Any:
        """Return the placement group of the next fusion; Ray Tune calls this."""
        excluded = ",".join(sorted(self.nodes.excluded))
        if not excluded:
            return super().to_placement_group()  # type: ignore[no-untyped-call]
        selector = [{"ray.io/node-id": f"!in({excluded})"}]
        return placement_group(self.bundles, bundle_label_selector=selector)
