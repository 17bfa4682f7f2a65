"""What a node must have to train, looked at there before anything of a fusion is loaded."""

from dataclasses import dataclass
from typing import Any

import ray

from tune.storage import Storage, is_away, is_full


class NodeError(ray.exceptions.RayActorError):
    """A node cannot train; no fault of the trial: Ray counts no failure of a preempted node."""

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
class NodeCheck:
    """What a node is held against; that it has the Python and the Ray of its head, Ray checks.

    token: name of a file among the checkpoints, and what it holds while the sweep runs.
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
            raise unfit(f"cannot load Ray and torch ({last})") from None
        if torch.__version__ != self.torch:
            versions = f"torch {torch.__version__}, this machine {self.torch}"
            raise unfit(f"has {versions}; install the same")
        if self.cuda:
            try:
                torch.ones(1, device="cuda").sum().item()
            except Exception as error:
                raise unfit(f"cannot use its GPU ({str(error).splitlines()[0]})") from None
        self.sees()

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
        return unfit(f"does not see {place} as this machine does ({first})")


def unfit(problem: str) -> NodeError:
    """The error of this node."""
    return NodeError(f"node {own_node()[:8]} {problem}")


def run_checked(config: dict[str, Any], *, gate: NodeCheck, work: "ray.ObjectRef[Any]") -> None:
    """Train a fusion on a node that can, else NodeError: what Ray calls.

    work: tune.trainable.run_fusion with all else that it takes, loaded only on a node that can
    train.
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
