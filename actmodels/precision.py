"""Halting in at least float32: half precision has 8 or 11 bits, too few for sums to 1 - epsilon."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

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
