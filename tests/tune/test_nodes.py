"""Which nodes are used, and what is said of the others; nodes themselves are in tests/cluster."""

import errno
import pickle
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

from tune.node_check import NodeCheck, NodeError, name_of
from tune.nodes import Nodes, Placement
from tune.storage import Storage, patient, storage

GOOD, BAD = "a" * 56, "b" * 56


class Said:
    """What came of asking a node: an error, or nothing."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error


@pytest.fixture
def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Nodes:
    """A cluster of two nodes of two CPUs each; nobody is asked."""
    place = storage(tmp_path / "c")
    place.make()

    def get(said: Said, timeout: float) -> None:
        assert timeout == 0
        if said.error:
            raise said.error

    there = [
        {"NodeID": node, "Alive": True, "NodeManagerAddress": where, "Resources": {"CPU": 2.0}}
        for node, where in ((GOOD, "10.0.0.1"), (BAD, "10.0.0.2"))
    ]
    monkeypatch.setattr(ray, "nodes", lambda: there)
    monkeypatch.setattr(ray, "get", get)
    monkeypatch.setattr(ray, "cancel", lambda said, force: None)
    monkeypatch.setattr("tune.node_check.own_node", lambda: BAD)
    found = Nodes(place, joined=True)
    found.good = {GOOD, BAD}
    return found


def problem(nodes: Nodes, error: Exception | None = None, waited: float = 0) -> str | None:
    return nodes._problem(BAD, Said(error), time.monotonic() - waited)


def refused(gate: NodeCheck) -> NodeError:
    """What a node is told that does not pass."""
    with pytest.raises(NodeError) as told:
        gate.pass_through()
    return told.value


def test_a_node_that_fits_reads_the_token_and_leaves_nothing(nodes: Nodes) -> None:
    gate = nodes.gate
    gate.checkpoints.write(gate.token, gate.token.encode())
    gate.pass_through()
    assert problem(nodes) == ""
    assert [path.name for path in Path(gate.checkpoints.place).iterdir()] == [gate.token]
    gate.checkpoints.write(gate.token, b"another")
    assert str(refused(gate)).endswith("as this machine does (it holds other files)")


def test_one_with_another_torch_without_a_gpu_or_without_torch(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    has = f"has torch {torch.__version__}, this machine 1.2; install the same"
    assert str(refused(replace(nodes.gate, torch="1.2"))) == f"node bbbbbbbb {has}"
    monkeypatch.setattr("torch.ones", lambda *_, device: 1 / 0)
    told = refused(replace(nodes.gate, cuda=True))
    assert str(told) == "node bbbbbbbb cannot use its GPU (division by zero)"
    monkeypatch.setitem(sys.modules, "torch", None)
    why = "cannot load Ray and torch (import of torch halted; None in sys.modules)"
    assert str(refused(nodes.gate)) == f"node bbbbbbbb {why}"


def test_one_that_says_nothing_or_is_broken(nodes: Nodes) -> None:
    late = ray.exceptions.GetTimeoutError("late")
    assert problem(nodes, late) is None
    waited = problem(nodes, late, waited=200)
    assert waited == "it did not answer within 200 s (cluster.wait_for_answer)"
    trace = "ray::answer()\n  File\nModuleNotFoundError: No module named 'ray.tune'"
    error = ray.exceptions.RaySystemError(trace)
    assert str(problem(nodes, error)).endswith("ModuleNotFoundError: No module named 'ray.tune'")


def test_one_that_is_not_used_is_asked_again(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Twice as late each time, and its reason is printed once."""
    monkeypatch.setattr(ray, "wait", lambda *_, **__: ())
    asked: list[NodeCheck] = []
    remote = SimpleNamespace(
        options=lambda **_: remote, remote=lambda gate: asked.append(gate) or Said()
    )
    monkeypatch.setattr(ray, "remote", lambda **_: lambda _: remote)
    for tries, seconds in ((1, 10), (2, 20)):
        nodes.exclude_node(BAD, "10.0.0.2", "its clock is wrong")
        assert nodes.excluded[BAD] == pytest.approx(time.monotonic() + seconds, abs=2)
        nodes.look()
        assert len(asked) == tries - 1
        nodes.excluded[BAD] = time.monotonic()
        nodes.look()
        assert len(asked) == tries and nodes.good == {GOOD, BAD} and not nodes.excluded
    notes = ["is not used: its clock is wrong", "is used again", "is used again"]
    assert capsys.readouterr().err == "".join(f"node 10.0.0.2 (bbbbbbbb) {n}\n" for n in notes)


def test_nobody_is_blamed_where_the_driver_does_not_see_the_store_either(nodes: Nodes) -> None:
    nodes.gate.checkpoints.write(nodes.gate.token, nodes.gate.token.encode())
    assert not nodes.awaited_store()
    away = OSError(errno.EHOSTUNREACH, "No route to host")
    reads = [b"", away, away]

    class Away(Storage):
        @patient
        def read(self, name: str) -> bytes:
            if isinstance(found := reads.pop(), OSError):
                raise found
            return found

    nodes.gate = replace(nodes.gate, checkpoints=Away("/away", patience=9.0))
    assert nodes.awaited_store()
    reads[:] = [away] * 2
    nodes.gate = replace(nodes.gate, checkpoints=Away("/away"))
    with pytest.raises(OSError, match="No route to host"):
        nodes.awaited_store()


def test_one_that_does_not_see_the_store(nodes: Nodes, capsys: pytest.CaptureFixture[str]) -> None:
    told = refused(nodes.gate)
    place = nodes.gate.checkpoints.place
    why = f"does not see {place} as this machine does (No such file or directory)"
    assert str(told) == f"node bbbbbbbb {why}"
    trace = ray.exceptions.RaySystemError(f"trace\n{name_of(NodeError)}: {told}")
    assert str(problem(nodes, trace)) == why
    nodes.good, nodes.asked[BAD] = {GOOD}, (Said(), 0.0)  # a fusion may come before the answer
    nodes.recheck_node(str(told))
    nodes.recheck_node(str(told))
    assert not nodes.asked
    assert capsys.readouterr().err == f"node 10.0.0.2 (bbbbbbbb) is not used: {why}\n"
    assert [node["NodeID"] for node in nodes.usable()] == [GOOD]
    nodes.gate.checkpoints.write(nodes.gate.token, nodes.gate.token.encode())
    nodes.gate.pass_through()


def test_fusions_are_placed_on_others_than_the_unfit(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(
        "tune.nodes.placement_group", lambda bundles, **more: asked.append((bundles, more))
    )
    placement = Placement({"cpu": 1, "gpu": 0}, nodes)
    assert placement.bundles == [{"CPU": 1}]
    nodes.good.remove(BAD)  # it has not answered yet
    monkeypatch.setattr(PlacementGroupFactory, "to_placement_group", lambda self: "anywhere")
    assert placement.to_placement_group() == "anywhere"
    nodes.good.add(BAD)
    assert nodes.places({"cpu": 1, "gpu": 0}) == 4
    nodes.exclude_node(BAD, "10.0.0.2", "why")
    assert nodes.places({"cpu": 1, "gpu": 0}) == 2
    placement.to_placement_group()
    selector = [{"ray.io/node-id": f"!in({BAD})"}]
    assert asked == [([{"CPU": 1}], {"bundle_label_selector": selector})]


def test_ray_counts_no_failure_of_a_trial() -> None:
    """See ray.tune.experiment.Trial: an actor that was preempted costs no restart."""
    error = pickle.loads(pickle.dumps(NodeError("node x is broken")))
    assert str(error) == "node x is broken"
    assert error.preempted
    task = ray.exceptions.RayTaskError("train", "trace", error)
    cause = task.as_instanceof_cause()
    assert isinstance(cause, ray.exceptions.RayActorError) and cause.preempted
