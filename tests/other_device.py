"""A device that needs no hardware: what runs on it runs on a GPU, as far as devices are concerned.

Its tensors say that they are on the device `lazy`, which torch names and does not implement. They
hold their values on the CPU and compute there, and refuse to meet a tensor of the CPU where CUDA
does.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode  # torch documents it by this name

DEVICE = "lazy"
MOVES = ("aten::_to_copy", "aten::copy_")
INDEXED = ("aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_")
JOINED = ("aten::cat", "aten::stack")  # CUDA joins no numbers of the CPU; elsewhere it takes them


class Remote(Tensor):
    """A tensor of the device; `values` are on the CPU."""

    values: Tensor

    @staticmethod
    def __new__(cls, values: Tensor) -> "Remote":
        made = Tensor._make_wrapper_subclass(
            cls,
            values.size(),
            strides=values.stride(),
            storage_offset=values.storage_offset(),
            dtype=values.dtype,
            device=torch.device(DEVICE, 0),
        )
        made.values = values
        return made

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Any | None = None
    ) -> Any:
        return computed(func, args, kwargs or {})

    @property
    def data(self) -> Tensor:
        return self.detach()

    @data.setter
    def data(self, other: "Remote") -> None:
        Tensor.data.__set__(self, other)
        self.values = other.values

    def tolist(self) -> Any:
        return self.values.tolist()


def computed(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Compute on the CPU; the results are on the device that torch would put them on."""
    tensors: list[Tensor] = []
    mapped(tensors.append, (args, kwargs))
    remote = [x for x in tensors if isinstance(x, Remote)]
    name = func.name().partition(".")[0]
    if remote and name not in (*MOVES, *INDEXED):
        local = [x for x in tensors if not isinstance(x, Remote)]
        mixed = [x.shape for x in local if x.dim() > 0 or name in JOINED]
        assert not mixed, f"{name}: tensors of the CPU with shapes {mixed} and of the device"
    device = kwargs.get("device")
    if name == "aten::copy_":
        stays = isinstance(args[0], Remote)
    else:
        stays = bool(remote) if device is None else torch.device(device).type == DEVICE
    if device is not None:
        kwargs = {**kwargs, "device": torch.device("cpu")}
    known = {id(x.values): x for x in remote}  # operations in place return their argument

    def outer(x: Tensor) -> Tensor:
        return known[id(x)] if id(x) in known else Remote(x)

    with torch.inference_mode(False), torch.no_grad():
        results = func(*mapped(inner, args), **mapped(inner, kwargs))
        return mapped(outer, results) if stays else results


def mapped(function: Callable[[Tensor], Any], tree: Any) -> Any:
    """Apply a function to every tensor in nested containers."""
    if isinstance(tree, dict):
        return {key: mapped(function, value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return type(tree)(mapped(function, value) for value in tree)
    return function(tree) if isinstance(tree, Tensor) else tree


def inner(x: Tensor) -> Tensor:
    return x.values if isinstance(x, Remote) else x


class OtherDevice(TorchDispatchMode):
    """While it is on, torch has the device."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any | None = None
    ) -> Any:
        return computed(func, args, kwargs or {})


def _empty(size: Any, dtype: torch.dtype | None = None, **_: Any) -> Remote:
    return Remote(torch.empty(size, dtype=dtype))


copied_from_host: list[torch.Size] = []  # shapes of tensors that were copied to the device


def _copy(source: Tensor, target: Tensor, non_blocking: bool = False) -> Tensor:
    copied_from_host.append(source.shape)
    inner(target).copy_(inner(source))
    return target


# torch.tensor(…, device=…) passes by the mode
KERNELS = torch.library.Library("aten", "IMPL")
KERNELS.impl("empty.memory_format", _empty, "Lazy")
KERNELS.impl("_copy_from", _copy, "Lazy")
