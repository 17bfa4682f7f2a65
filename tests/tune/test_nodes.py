"""Node checks and placement with fake nodes; real nodes are in tests/cluster."""

import errno
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import ray
import torch
from ray.tune import PlacementGroupFactory

from tune.cluster.node_check import NodeCheck, NodeError, qualified_name
from tune.cluster.nodes import Nodes, Placement
from tune.trials.execution import Execution
from tune.trials.storage import Storage, retried

GOOD, BAD = "a" * 56, "b" * 56


class Result:
    """The result of a node's check: an error, or None."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error


@pytest.fixture
def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Nodes:
    """A cluster of two nodes with two CPUs each, which both passed their check."""

    def get(result: Result, timeout: float) -> None:
        assert timeout == 0
        if result.error:
            raise result.error

    listed = [
        {"NodeID": node, "Alive": True, "NodeManagerAddress": where, "Resources": {"CPU": 2.0}}
        for node, where in ((GOOD, "10.0.0.1"), (BAD, "10.0.0.2"))
    ]
    monkeypatch.setattr(ray, "nodes", lambda: listed)
    monkeypatch.setattr(ray, "get", get)
    monkeypatch.setattr(ray, "cancel", lambda result, force: None)
    monkeypatch.setattr("tune.cluster.node_check.current_node", lambda: BAD)
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    execution = Execution(tmp_path, tmp_path, tmp_path, patience=0)
    execution.checkpoints.make()
    nodes = Nodes(execution)
    nodes.passed = {GOOD, BAD}
    return nodes


def problem(nodes: Nodes, error: Exception | None = None, waited: float = 0) -> str | None:
    return nodes._problem(BAD, Result(error), time.monotonic() - waited)


def failure(check: NodeCheck) -> NodeError:
    """The error of a node that fails the check."""
    with pytest.raises(NodeError) as raised:
        check.run()
    return raised.value


def test_a_node_that_passes_leaves_no_files(nodes: Nodes) -> None:
    check = nodes.check
    check.checkpoints.write(check.token, check.token.encode())
    check.run()
    assert problem(nodes) == ""
    assert [path.name for path in Path(check.checkpoints.location).iterdir()] == [check.token]
    check.checkpoints.write(check.token, b"another")
    assert str(failure(check)).endswith("as this machine does (it holds other files)")


def test_another_torch_a_broken_gpu_and_no_torch(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    has = f"has torch {torch.__version__}, this machine 1.2; install the same"
    assert str(failure(replace(nodes.check, torch="1.2"))) == f"node bbbbbbbb {has}"
    monkeypatch.setattr("torch.ones", lambda *_, device: 1 / 0)
    error = failure(replace(nodes.check, cuda=True))
    assert str(error) == "node bbbbbbbb cannot use its GPU (division by zero)"
    monkeypatch.setitem(sys.modules, "torch", None)
    why = "cannot load Ray and torch (import of torch halted; None in sys.modules)"
    assert str(failure(nodes.check)) == f"node bbbbbbbb {why}"


def test_a_node_that_does_not_answer_or_is_broken(nodes: Nodes) -> None:
    late = ray.exceptions.GetTimeoutError("late")
    assert problem(nodes, late) is None
    waited = problem(nodes, late, waited=200)
    assert waited == "it did not answer within 200 s (cluster.patience)"
    trace = "ray::answer()\n  File\nModuleNotFoundError: No module named 'ray.tune'"
    error = ray.exceptions.RaySystemError(trace)
    assert str(problem(nodes, error)).endswith("ModuleNotFoundError: No module named 'ray.tune'")


def test_an_excluded_node_is_checked_again(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After twice the time, and its problem is printed once."""
    monkeypatch.setattr(ray, "wait", lambda *_, **__: ())
    checks: list[NodeCheck] = []
    remote = SimpleNamespace(
        options=lambda **_: remote, remote=lambda check: checks.append(check) or Result()
    )
    monkeypatch.setattr(ray, "remote", lambda **_: lambda _: remote)
    for tries, seconds in ((1, 10), (2, 20)):
        nodes.exclude_node(nodes.alive()[1], "its clock is wrong")
        assert nodes.excluded[BAD] == pytest.approx(time.monotonic() + seconds, abs=2)
        nodes.check_new()
        assert len(checks) == tries - 1
        nodes.excluded[BAD] = time.monotonic()
        nodes.check_new()
        assert len(checks) == tries and nodes.passed == {GOOD, BAD} and not nodes.excluded
    notes = ["is not used: its clock is wrong", "is used again", "is used again"]
    assert capsys.readouterr().err == "".join(f"node 10.0.0.2 (bbbbbbbb) {n}\n" for n in notes)


def test_no_node_is_excluded_if_the_driver_cannot_reach_the_storage(nodes: Nodes) -> None:
    nodes.check.checkpoints.write(nodes.check.token, nodes.check.token.encode())
    assert not nodes.storage_was_unreachable()
    unreachable = OSError(errno.EHOSTUNREACH, "No route to host")
    reads = [b"", unreachable, unreachable]

    class Unreachable(Storage):
        @retried
        def read(self, name: str) -> bytes:
            if isinstance(result := reads.pop(), OSError):
                raise result
            return result

    nodes.check = replace(nodes.check, checkpoints=Unreachable("/away", retry_seconds=9.0))
    assert nodes.storage_was_unreachable()
    reads[:] = [unreachable] * 2
    nodes.check = replace(nodes.check, checkpoints=Unreachable("/away"))
    with pytest.raises(OSError, match="No route to host"):
        nodes.storage_was_unreachable()


def test_a_node_without_the_storage(nodes: Nodes, capsys: pytest.CaptureFixture[str]) -> None:
    error = failure(nodes.check)
    place = nodes.check.checkpoints.location
    why = f"does not see {place} as this machine does (No such file or directory)"
    assert str(error) == f"node bbbbbbbb {why}"
    trace = ray.exceptions.RaySystemError(f"trace\n{qualified_name(NodeError)}: {error}")
    assert str(problem(nodes, trace)) == why
    nodes.passed, nodes.pending[BAD] = {GOOD}, (Result(), 0.0)  # a fusion may fail first
    nodes.exclude_failed(str(error))
    nodes.exclude_failed(str(error))
    assert not nodes.pending
    assert capsys.readouterr().err == f"node 10.0.0.2 (bbbbbbbb) is not used: {why}\n"
    assert [node["NodeID"] for node in nodes.usable()] == [GOOD]
    nodes.check.checkpoints.write(nodes.check.token, nodes.check.token.encode())
    nodes.check.run()


def test_fusions_are_not_placed_on_excluded_nodes(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups: list[Any] = []
    monkeypatch.setattr(
        "tune.cluster.nodes.placement_group", lambda bundles, **more: groups.append((bundles, more))
    )
    placement = Placement(nodes)
    assert placement.bundles == [{"CPU": 1}]
    nodes.passed.remove(BAD)  # its check is pending
    monkeypatch.setattr(PlacementGroupFactory, "to_placement_group", lambda self: "anywhere")
    assert placement.to_placement_group() == "anywhere"
    nodes.passed.add(BAD)
    assert nodes.count_capacity() == 4
    nodes.exclude_node(nodes.alive()[1], "why")
    assert nodes.count_capacity() == 2
    placement.to_placement_group()
    selector = [{"ray.io/node-id": f"!in({BAD})"}]
    assert groups == [([{"CPU": 1}], {"bundle_label_selector": selector})]
