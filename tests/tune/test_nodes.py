"""Which nodes are used, and what is said of the others; nodes themselves are in tests/cluster."""

import pickle
import time
from pathlib import Path
from typing import Any

import pytest
import ray

from tune.nodes import NodeError, Nodes, Placement, name_of, sees, versions
from tune.storage import storage

GOOD, BAD = "a" * 56, "b" * 56


class Said:
    """What a node answered."""

    def __init__(self, found: dict[str, str] | Exception) -> None:
        self.found = found


@pytest.fixture
def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Nodes:
    """A cluster of two nodes of two CPUs each; nobody is asked."""
    place = storage(tmp_path / "c")
    place.make()

    def get(said: Said, timeout: float) -> dict[str, str]:
        assert timeout == 0
        if isinstance(said.found, Exception):
            raise said.found
        return said.found

    there = [
        {
            "NodeID": node,
            "Alive": True,
            "NodeManagerAddress": address,
            "Resources": {"CPU": 2.0},
        }
        for node, address in ((GOOD, "10.0.0.1"), (BAD, "10.0.0.2"))
    ]
    monkeypatch.setattr(ray, "nodes", lambda: there)
    monkeypatch.setattr(ray, "get", get)
    monkeypatch.setattr(ray, "cancel", lambda said, force: None)
    found = Nodes(place, joined=True)
    found.good = {GOOD, BAD}
    return found


def problem(nodes: Nodes, found: dict[str, str] | Exception, waited: float = 0) -> str | None:
    return nodes._problem(BAD, Said(found), time.monotonic() - waited)


def test_a_node_that_fits_has_written_what_this_machine_reads(nodes: Nodes) -> None:
    place = nodes.checkpoints.place
    assert problem(nodes, versions()) == f"what it writes to {place} does not arrive here"
    nodes.checkpoints.write(f"{nodes.token}-{BAD}", b"")
    assert problem(nodes, versions()) == ""
    assert not list(Path(place).iterdir())


@pytest.mark.parametrize("name", ["Python", "Ray", "torch"])
def test_another_version_is_named_beside_this_one(name: str, nodes: Nodes) -> None:
    here = versions()[name]
    assert problem(nodes, versions() | {name: "1.2"}) == (
        f"it has {name} 1.2, this machine {here}; install the same"
    )


def test_one_that_says_nothing_or_cannot_import(nodes: Nodes) -> None:
    late = ray.exceptions.GetTimeoutError("late")
    assert problem(nodes, late) is None
    assert problem(nodes, late, waited=200) == "it did not answer within 180 s"
    trace = "ray::answer()\n  File\nModuleNotFoundError: No module named 'ray.tune'"
    error = ray.exceptions.RaySystemError(trace)
    assert str(problem(nodes, error)).endswith("ModuleNotFoundError: No module named 'ray.tune'")


def test_one_that_does_not_see_the_store(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Context:
        def get_node_id(self) -> str:
            return BAD

    monkeypatch.setattr(ray, "get_runtime_context", Context)
    with pytest.raises(NodeError) as told:
        sees(nodes.checkpoints, nodes.token)
    place = nodes.checkpoints.place
    why = f"does not see {place} as this machine does (No such file or directory)"
    assert str(told.value) == f"node bbbbbbbb {why}"
    trace = ray.exceptions.RaySystemError(f"trace\n{name_of(NodeError)}: {told.value}")
    assert str(problem(nodes, trace)).endswith(why)
    nodes.distrust(str(told.value))
    assert capsys.readouterr().err == f"node 10.0.0.2 (bbbbbbbb) is not used: {why}\n"
    assert [node["NodeID"] for node in nodes.usable()] == [GOOD]
    nodes.checkpoints.write(nodes.token, nodes.token.encode())
    sees(nodes.checkpoints, nodes.token)


def test_packs_are_placed_on_the_others(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(
        "tune.nodes.placement_group", lambda bundles, **more: asked.append((bundles, more))
    )
    placement = Placement({"cpu": 1, "gpu": 0}, nodes)
    assert placement.bundles == [{"CPU": 1}]
    assert nodes.places({"cpu": 1, "gpu": 0}) == 4
    nodes.avoid(BAD, "10.0.0.2", "why")
    assert nodes.places({"cpu": 1, "gpu": 0}) == 2
    placement.to_placement_group()
    selector = [{"ray.io/node-id": f"!in({BAD})"}]
    assert asked == [([{"CPU": 1}], {"bundle_label_selector": selector})]


def test_a_node_that_joins_is_used_once_it_has_answered(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    late = ray.exceptions.GetTimeoutError("late")
    said = Said(late)
    nodes.good = {GOOD}
    nodes.asked[BAD] = (said, time.monotonic())
    monkeypatch.setattr(ray, "wait", lambda *_, **__: ())
    monkeypatch.setattr(ray, "remote", lambda **_: lambda function: None)
    nodes.look()
    assert nodes.unusable() == [BAD] and BAD in nodes.asked
    said.found = versions()
    nodes.checkpoints.write(f"{nodes.token}-{BAD}", b"")
    nodes.look()
    assert nodes.unusable() == [] and not nodes.asked
    assert capsys.readouterr().err == ""


def test_ray_counts_no_failure_of_a_trial() -> None:
    """See ray.tune.experiment.Trial: an actor that was preempted costs no restart."""
    error = pickle.loads(pickle.dumps(NodeError("node x is broken")))
    assert str(error) == "node x is broken"
    assert error.preempted
    task = ray.exceptions.RayTaskError("train", "trace", error)
    cause = task.as_instanceof_cause()
    assert isinstance(cause, ray.exceptions.RayActorError) and cause.preempted
