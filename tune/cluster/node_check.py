"""Check that a node can train, on that node, before a fusion is loaded there."""

import functools
from dataclasses import dataclass
from typing import Any

import ray

from tune.trials.storage import Storage, is_full, is_unreachable


class NodeError(Exception):
    """A node cannot train; its fusion counts no failure."""


class StorageFullError(NodeError):
    """The checkpoint storage has no space left."""


def qualified_name(error: type[Exception]) -> str:
    """Return the error's name as it appears at the end of a traceback."""
    return f"{error.__module__}.{error.__qualname__}"


def current_node() -> str:
    """Return the id of the node on which this process runs."""
    return str(ray.get_runtime_context().get_node_id())


@dataclass(frozen=True)
class NodeCheck:
    """Requirements of a node; Ray itself compares the versions of Python and Ray.

    Args:
        checkpoints: storage that the node must read and write.
        token: name and content of a file that the driver keeps there during the sweep.
        torch: version of torch on the driver.
        cuda: whether the node must have a working GPU.
    """

    checkpoints: Storage
    token: str
    torch: str
    cuda: bool = False

    def run(self) -> None:
        """Raise NodeError, whose message begins with the node's id, if this node cannot train."""
        try:
            import ray.tune  # noqa: F401  a node may have Ray without Tune
            import torch
        except Exception as error:
            last = (str(error).strip().splitlines() or [type(error).__name__])[-1]
            raise node_error(f"cannot load Ray and torch ({last})") from None
        if torch.__version__ != self.torch:
            versions = f"torch {torch.__version__}, this machine {self.torch}"
            raise node_error(f"has {versions}; install the same")
        if self.cuda:
            try:
                torch.ones(1, device="cuda").sum().item()
            except Exception as error:
                raise node_error(f"cannot use its GPU ({str(error).splitlines()[0]})") from None
        self.check_storage()

    def check_storage(self) -> None:
        """Raise NodeError if this node cannot read and write the driver's checkpoints."""
        probe = f"{self.token}-{current_node()}"
        try:
            content = self.checkpoints.read(self.token)
            self.checkpoints.write(probe, b"")
            self.checkpoints.remove(probe)
        except OSError as error:
            raise self.storage_error(error) from None
        if content != self.token.encode():
            raise self.storage_error("it holds other files")

    def storage_error(self, problem: OSError | str) -> NodeError:
        """Return the error of a node that cannot use the checkpoint storage."""
        location = self.checkpoints.location
        if isinstance(problem, OSError) and is_full(problem):
            return StorageFullError(f"{location} is full")
        text = getattr(problem, "strerror", None) or str(problem)
        first = text.splitlines()[0][:200]
        return node_error(f"does not see {location} as this machine does ({first})")


def node_error(problem: str) -> NodeError:
    """Return the error of this node."""
    return NodeError(f"node {current_node()[:8]} {problem}")


@functools.lru_cache(maxsize=1)
def loaded(work: "ray.ObjectRef[Any]") -> Any:
    """Return Ray's object; a worker reads it once, as it holds the settings of all trials."""
    return ray.get(work)


def run_checked(config: dict[str, Any], *, check: NodeCheck, work: "ray.ObjectRef[Any]") -> None:
    """Check this node, then train a fusion; Ray Tune's trainable.

    work: tune.cluster.trainable.run_fusion with its other arguments; it is loaded after the check.
    """
    check.run()
    try:
        loaded(work)(config)
    except OSError as error:
        if is_full(error) or is_unreachable(error):
            raise check.storage_error(error) from error
        check.check_storage()  # the node may have lost it
        raise
