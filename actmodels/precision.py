"""Halting in at least float32: half precision has 8 or 11 bits, too few for sums to 1 - epsilon."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

HALF = (torch.float16, torch.bfloat16)


def at_least_float32(values: Tensor) -> Tensor:
    """Convert half precision to float32, and nothing else."""
    return values.float() if values.dtype in HALF else values


def without_autocast(values: Tensor) -> AbstractContextManager[object]:
    """Return a context in which the device of `values` has no automatic mixed precision."""
    device = values.device.type
    if device == "meta" or not torch.is_autocast_enabled(device):
        return nullcontext()
    return torch.autocast(device, enabled=False)
