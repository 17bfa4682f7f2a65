"""Dropout masks as windows of one random sequence, at a place that a hash chooses.

The hash is of (seed, epoch, update; layer call, example, token). So a trial has the same masks
alone and fused, on any device, with any padding, and after resuming.
"""

from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import count

import torch
from torch import Tensor, nn

from actmodels.modules.linear import per_trial
from actmodels.seeding import generator

# Odd constants with well mixed bits, as signed 32-bit integers; products wrap around. They are
# tensors because torch would convert a Python number at each operation, as slow as the operation.
GOLDEN, SECOND, THIRD, FOURTH, HALF, LOW_HALF, THIRTEEN, LOW_19, FOURTEEN, LOW_18 = torch.tensor(
    [-1640531527, -2048144789, -1028477379, 668265263, 16, 0xFFFF, 13, 0x7FFFF, 14, 0x3FFFF],
    dtype=torch.int32,
)
KEYS = 64  # of updates at a time
LENGTH = 2**19  # of the random sequence; windows begin in its first half


def mix(bits: Tensor) -> Tensor:
    """Apply MurmurHash3's finalizer to int32 in place: flipping a bit flips half of the others.

    torch shifts repeat the sign bit; the masks remove the copies.
    """
    bits ^= (bits >> HALF).bitwise_and_(LOW_HALF)
    bits *= SECOND
    bits ^= (bits >> THIRTEEN).bitwise_and_(LOW_19)
    bits *= THIRD
    bits ^= (bits >> HALF).bitwise_and_(LOW_HALF)
    return bits


@cache
def random_sequence(device: torch.device) -> Tensor:
    """Return evenly spaced int32 numbers in random order, so that any share of them is exact."""
    with torch.inference_mode(False):
        order = torch.randperm(LENGTH, generator=generator("dropout"))
        return (order * (2**32 // LENGTH) - 2**31).to(torch.int32).to(device)


@lru_cache(maxsize=8)
def mask_sequence(rate: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return the random sequence as mask: 0 for a share `rate`, 1/(1 - rate) elsewhere."""
    with torch.inference_mode(False):
        return (random_sequence(device) >= lowest_kept(rate)).to(dtype).mul_(1 / (1 - rate))


def lowest_kept(rate: float) -> int:
    """Return the least int32 that a share `rate` of all int32 is smaller than."""
    return round(rate * 2**32) - 2**31


@cache  # without a limit: recorded updates read these tensors (actmodels.static_updates)
def places(sizes: tuple[int, ...], device: torch.device) -> Tensor:
    """Number the examples [batch], or the tokens of a batch [batch, tokens], for the hash."""
    with torch.inference_mode(False):
        first, *tokens = (torch.arange(n, dtype=torch.int32, device=device) for n in sizes)
        first = first * FOURTH
        return first[:, None] + tokens[0] * THIRD if tokens else first


class DropoutStream:
    """Source of mask keys, shared by the Dropout modules of a model.

    key: int32 [], or when fused [trials]; None draws a key per mask from torch's generator.
    calls: number of masks drawn since the key was set.
    """

    def __init__(self) -> None:
        self.key: Tensor | None = None
        self.calls = 0

    def restart(self, key: Tensor) -> None:
        self.key, self.calls = key, 0

    def next(self, device: torch.device) -> Tensor:
        """Return the key of the next mask, of the shape of `key`."""
        if self.key is None:
            return torch.randint(-(2**31), 2**31, (), dtype=torch.int64).int().to(device)
        self.calls += 1
        return self.key + GOLDEN * self.calls

    def next_keys(self, count: int, device: torch.device) -> Tensor:
        """Return the keys of the next masks [count], not fused."""
        if self.key is None:
            return torch.stack([self.next(device) for _ in range(count)])
        first, self.calls = self.calls + 1, self.calls + count
        calls = torch.arange(first, self.calls + 1, dtype=torch.int32, device=device)
        return calls.mul_(GOLDEN).add_(self.key)


def update_keys(
    seed: int | Tensor, epoch: int | Tensor, device: torch.device | str
) -> Iterator[Tensor]:
    """Yield the key of each update, int32 []; for seeds and epochs [trials], int32 [trials]."""
    key = (torch.as_tensor(seed) % 2**31).to(torch.int32)
    key = mix(key * FOURTH + torch.as_tensor(epoch, dtype=torch.int32)) * FOURTH
    for first in count(0, KEYS):
        updates = torch.arange(first, first + KEYS, dtype=torch.int32, device=key.device)
        yield from mix(key + updates.view(-1, *(1,) * key.dim())).to(device)


class Dropout(nn.Module):
    """Zero units with probability `rate` (when fused [trials]), scale the rest by 1/(1 - rate)."""

    rate: float | Tensor

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.stream = DropoutStream()

    def forward(self, inputs: Tensor, numbers: Tensor | None = None) -> Tensor:
        """Apply a mask to [batch, ..., units]; when fused [trials, batch, ..., units].

        numbers: of the examples [batch], for the hash; by default their order.
        """
        if self.idle:
            return inputs
        return inputs * self.mask(tuple(inputs.shape), inputs, numbers)

    @property
    def idle(self) -> bool:
        return not self.training or (isinstance(self.rate, float | int) and self.rate == 0)

    def mask(self, shape: tuple[int, ...], like: Tensor, numbers: Tensor | None = None) -> Tensor:
        """Draw a mask of 0 and 1/(1 - rate) with the dtype of `like`; a scalar 1 if idle."""
        if self.idle:
            return like.new_ones(())
        key = self.stream.next(like.device)
        *sizes, _units = shape[1:] if key.dim() == 1 else shape
        if numbers is None:
            numbers = places(tuple(sizes), like.device)
        else:
            numbers = numbers.to(torch.int32) * FOURTH
        at = offsets((key.view(-1, *(1,) * len(sizes)) if key.dim() else key) + numbers).flatten()
        if not isinstance(self.rate, Tensor):
            return windows(mask_sequence(self.rate, like.dtype, like.device), at, shape)
        bits = windows(random_sequence(like.device), at, shape)
        rate = self.rate.double()  # in double precision, for masks equal to the unfused
        lowest = (torch.round(rate * 2**32) - 2**31).to(torch.int32)
        scale = (1 / (1 - rate)).to(like.dtype).view(-1, *(1,) * (bits.dim() - 1))
        return torch.where(bits >= per_trial(lowest, bits), scale, 0.0)


def offsets(bits: Tensor) -> Tensor:
    """Return where windows begin; bits: key + number of an example or token, see `places`."""
    return (mix(bits) >> FOURTEEN).bitwise_and_(LOW_18)


def windows(sequence: Tensor, at: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Copy the windows of a sequence that begin at `at` to a tensor [..., units]."""
    return sequence.unfold(0, shape[-1], 1).index_select(0, at).view(shape)


def share_stream(model: nn.Module) -> DropoutStream:
    """Share one stream among all Dropout modules of a model, so that their masks differ."""
    stream = DropoutStream()
    for module in model.modules():
        if isinstance(module, Dropout):
            module.stream = stream
    return stream
