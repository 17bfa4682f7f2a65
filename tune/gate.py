"""What a node must have before it trains, looked at on the node itself.

It comes before everything else of a pack is loaded there: nodes join in mid-sweep, and Ray starts
packs on them at once.
"""

from dataclasses import dataclass
from typing import Any

import ray

from tune.storage import Storage, is_away, is_full


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


def own_node() -> str:
    """The id of the node where this runs."""
    return str(ray.get_runtime_context().get_node_id())


@dataclass(frozen=True)
class Gate:
    """What a node is held against; that it has the Python and the Ray of its head, Ray checks.

    Args:
        checkpoints: of the trials in progress, which all nodes must see.
        token: name of a file there and what it holds, while the sweep runs.
        torch: version of the driver's. cuda: trials train on GPUs.
    """

    checkpoints: Storage
    token: str
    torch: str
    cuda: bool = False

    def pass_through(self) -> None:
        """NodeError, which begins with the node's id, if it cannot train."""
        try:
            import ray.tune  # noqa: F401  a node may have Ray alone
            import torch
        except Exception as error:
            last = (str(error).strip().splitlines() or [type(error).__name__])[-1]
            raise NodeError(f"node {own_node()[:8]} cannot load Ray and torch ({last})") from None
        if torch.__version__ != self.torch:
            problem = f"has torch {torch.__version__}, this machine {self.torch}; install the same"
            raise NodeError(f"node {own_node()[:8]} {problem}")
        if self.cuda:
            self.computes_on_gpu()
        self.sees()

    def computes_on_gpu(self) -> None:
        """NodeError if CUDA does not work on this node."""
        import torch

        try:
            torch.ones(1, device="cuda").sum().item()
        except Exception as error:
            problem = str(error).splitlines()[0]
            raise NodeError(f"node {own_node()[:8]} cannot use its GPU ({problem})") from None

    def sees(self) -> None:
        """NodeError if this node cannot read and write the checkpoints of the driver."""
        own = f"{self.token}-{own_node()}"
        try:
            found = self.checkpoints.read(self.token)
            self.checkpoints.write(own, b"")
            self.checkpoints.remove(own)
        except OSError as error:
            if is_full(error):
                raise FullError(f"{self.checkpoints.place} is full") from error
            raise self.blind(error.strerror or str(error)) from None
        if found != self.token.encode():
            raise self.blind("it holds other files")

    def blind(self, problem: str) -> NodeError:
        """The error of a node that does not see the checkpoints."""
        place, first = self.checkpoints.place, problem.splitlines()[0][:200]
        return NodeError(
            f"node {own_node()[:8]} does not see {place} as this machine does ({first})"
        )


def through(config: dict[str, Any], *, gate: Gate, work: "ray.ObjectRef[Any]") -> None:
    """Train a pack on a node that can: what Ray calls.

    Args:
        config: see tune.trainable.run_pack. work: that function with all else that it takes, which
            is not loaded on a node that cannot.

    Raises:
        NodeError: this node cannot. FullError: there is no room for checkpoints.
    """
    gate.pass_through()
    try:
        ray.get(work)(config)
    except OSError as error:
        if is_full(error):
            raise FullError(f"{gate.checkpoints.place} is full") from error
        if is_away(error):
            raise gate.blind(str(error)) from error
        gate.sees()  # else the node has lost it
        raise
