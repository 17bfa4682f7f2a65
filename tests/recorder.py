"""Record operations on the CPU and repeat them without the model's Python, as a CUDA graph does.

What the host decided while it recorded is fixed. Operations that a CUDA graph refuses are refused.
"""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode  # torch documents it by this name
from torch.utils._pytree import tree_flatten, tree_map  # and this one

from tests.other_device import copied_from_host

READS = ("_local_scalar_dense", "nonzero", "_unique2", "masked_select", "equal", "is_nonzero")
Operation = tuple[Any, Any, dict[str, Any], Any]  # function, its arguments, what it returned


class Recording(TorchDispatchMode):
    """While it is on, operations are recorded."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[Operation] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = func.name().removeprefix("aten::").partition(".")[0]
        assert name not in READS, f"{name}: the host reads a value"
        masks = [
            x for x in tree_flatten(args)[0] if isinstance(x, Tensor) and x.dtype == torch.bool
        ]
        assert name != "index" or not masks, "index: a size depends on a mask"
        copied = len(copied_from_host)
        result = func(*args, **kwargs)
        assert len(copied_from_host) == copied, f"{name}: copies from the host"
        self.operations.append((func, args, kwargs, result))
        return result


def signature(recordings: Iterable[Recording]) -> list[Any]:
    """Return what must not depend on data: operations, shapes, types and other arguments.

    Memory is numbered in the order in which operations made it; other memory counts by its address.
    """
    numbers: dict[int, int] = {}

    def described(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        address = leaf.untyped_storage().data_ptr()
        place = ("made", numbers[address]) if address in numbers else ("given", address)
        return tuple(leaf.shape), leaf.dtype, leaf.storage_offset(), place

    lines = []
    for func, args, kwargs, result in chain(*(one.operations for one in recordings)):
        lines.append((func.name(), tree_map(described, args), tree_map(described, kwargs)))
        given = {
            x.untyped_storage().data_ptr() for x in tree_flatten(args)[0] if isinstance(x, Tensor)
        }
        for leaf in tree_flatten(result)[0]:
            if isinstance(leaf, Tensor) and leaf.untyped_storage().data_ptr() not in given:
                numbers.setdefault(leaf.untyped_storage().data_ptr(), len(numbers))
    return lines


class Recorder:
    """Records functions; see `actmodels.static_updates.Record`."""

    def __init__(self) -> None:
        self.recordings: list[Recording] = []
        self.repeats = 0

    def __call__(self, function: Callable[[], None]) -> Callable[[], None]:
        with Recording() as recording:
            function()
        self.recordings.append(recording)
        return lambda: self.repeat(recording)

    @torch.no_grad()
    def repeat(self, recording: Recording) -> None:
        """Do the operations again, on the same memory."""
        self.repeats += 1
        for func, args, kwargs, result in recording.operations:
            again = func(*args, **kwargs)
            for old, new in zip(tree_flatten(result)[0], tree_flatten(again)[0], strict=True):
                if isinstance(old, Tensor) and old.data_ptr() != new.data_ptr():
                    old.copy_(new)
