"""Linear layers for one model or for fused models, and parameter initialization.

Halting has at least float32: half precision has 8 or 11 bits, too few for sums to 1 - epsilon.
"""

from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn
from torch.nn import functional

from actmodels.configs import Init

HALF = (torch.float16, torch.bfloat16)
# Named because torch.compile of torch 2.11 cannot trace `is_autocast_available`.
WITH_AUTOCAST = ("cpu", "cuda", "mps", "xpu")


def at_least_float32(values: Tensor) -> Tensor:
    """Convert half precision to float32, and nothing else."""
    return values.float() if values.dtype in HALF else values


def is_autocast(values: Tensor) -> bool:
    """Return whether automatic mixed precision is on for the device of `values`."""
    device = values.device.type  # one like "meta" has none
    available = device in WITH_AUTOCAST or torch.amp.is_autocast_available(device)
    return available and torch.is_autocast_enabled(device)


def in_one_precision(values: Tensor) -> bool:
    """Return whether values have full precision and no automatic mixed precision."""
    return values.dtype not in HALF and not is_autocast(values)


def without_autocast(values: Tensor) -> AbstractContextManager[object]:
    """Return a context in which the device of `values` has no automatic mixed precision."""
    return (
        torch.autocast(values.device.type, enabled=False) if is_autocast(values) else nullcontext()
    )


def affine(inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return W x + b; when fused, each trial (leading dimension) has its own W and b.

    Args:
        inputs: [..., inputs]. When fused it may have fewer trials than `weight`, once the last
            trials have halted; then the first weights apply (a view, no copy).
        weight: [outputs, inputs].
        bias: [outputs].
    """
    if weight.dim() == 2:
        return functional.linear(inputs, weight, bias)
    trials, *middle, size = inputs.shape
    rows = inputs.reshape(trials, -1, size)
    maps = weight[:trials].transpose(1, 2)
    outputs = rows @ maps if bias is None else torch.baddbmm(bias[:trials, None], rows, maps)
    return outputs.reshape(trials, *middle, weight.shape[1])


class Linear(nn.Linear):
    """torch.nn.Linear whose parameters may have a leading dimension [trials]."""

    start_bias: float = 0.0  # set by `initialize`

    def forward(self, inputs: Tensor) -> Tensor:
        """Map [..., inputs] to [..., outputs]."""
        return affine(inputs, self.weight, self.bias)


class HaltingUnit(nn.Module):
    """h_n = sigmoid(w · state_n + b), in at least float32 (paper eq. 6).

    bias: initial b; with 1 an untrained model halts at step 2, with -3 at step 21. None: no b
    (Munkhdalai & Yu 2017 eq. 15).
    """

    def __init__(self, state: int, bias: float | None) -> None:
        super().__init__()
        self.linear = Linear(state, 1, bias=bias is not None)
        if bias is not None:
            self.linear.start_bias = bias  # of `initialize`
            nn.init.constant_(self.linear.bias, bias)

    def forward(self, state: Tensor) -> Tensor:
        """Map states [batch, state] to h [batch]."""
        weight: Tensor = self.linear.weight
        bias: Tensor | None = self.linear.bias
        with without_autocast(state):
            bias = bias if bias is None else at_least_float32(bias)
            logits = affine(at_least_float32(state), at_least_float32(weight), bias)
            return torch.sigmoid(logits).squeeze(-1)


def from_left(values: Tensor, like: Tensor) -> Tensor:
    """Append dimensions of size 1 to values [batch], to broadcast with `like` [batch, ...]."""
    return values.reshape(values.shape + (1,) * (like.dim() - values.dim()))


def has_hook(module: nn.Module) -> bool:
    """Return whether calls of a module run a hook of it; torch has no public name for it."""
    return bool(module._forward_hooks or module._forward_pre_hooks or module._backward_hooks)


def consists_of(module: nn.Module, types: Collection[type]) -> bool:
    """Return whether a module and its parts have these very types, and no hook."""
    return all(type(part) in types and not has_hook(part) for part in module.modules())


def per_trial(value: float | Tensor, like: Tensor) -> float | Tensor:
    """Return a setting that broadcasts with `like`: a number, or when fused float64 [trials]."""
    if not isinstance(value, Tensor) or value.dim() == 0:
        return value
    return value[: len(like)].reshape(-1, *(1,) * (like.dim() - 1)).to(like.dtype)


@torch.no_grad()
def initialize(model: nn.Module, init: Init, std: float) -> None:
    """Draw weights (`xavier`: Glorot & Bengio 2010; `normal`: N(0, std²)), and set biases."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            if init == "xavier":
                nn.init.xavier_uniform_(module.weight)
            else:
                nn.init.normal_(module.weight, std=std)
            if module.bias is not None:
                nn.init.constant_(module.bias, getattr(module, "start_bias", 0.0))
