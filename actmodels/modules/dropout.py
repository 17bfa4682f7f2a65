"""Dropout masks as a hash of (seed, epoch, update; layer call, example, token, unit).

A trial has the same masks alone and fused, on any device, with any padding, and after resuming.
"""

import torch
from torch import Tensor, nn

from actmodels.modules.linear import per_trial

# Odd constants with well mixed bits, as signed 32-bit integers; products wrap around. They are
# tensors because torch would convert a Python number at each operation, as slow as the operation.
GOLDEN, SECOND, THIRD, FOURTH, HALF, LOW_HALF, THIRTEEN, LOW_19 = torch.tensor(
    [-1640531527, -2048144789, -1028477379, 668265263, 16, 0xFFFF, 13, 0x7FFFF], dtype=torch.int32
)


def mix(bits: Tensor) -> Tensor:
    """Apply MurmurHash3's finalizer to int32 in place: flipping a bit flips half of the others.

    torch shifts repeat the sign bit; the masks remove the copies.
    """
    mix_high_bits(bits)
    bits ^= (bits >> HALF).bitwise_and_(LOW_HALF)
    return bits


def mix_high_bits(bits: Tensor) -> Tensor:
    """Apply `mix` without its last shift, which hardly changes the high bits, in place."""
    bits ^= (bits >> HALF).bitwise_and_(LOW_HALF)
    bits *= SECOND
    bits ^= (bits >> THIRTEEN).bitwise_and_(LOW_19)
    bits *= THIRD
    return bits


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


def update_key(seed: int | Tensor, epoch: int | Tensor, update: int) -> Tensor:
    """Return the key of an update, int32 []; for seeds and epochs [trials], int32 [trials]."""
    key = (torch.as_tensor(seed) % 2**31).to(torch.int32)
    for number in (epoch, update):
        key = mix(key * FOURTH + torch.as_tensor(number, dtype=torch.int32))
    return key


class Dropout(nn.Module):
    """Zero units with probability `rate` (when fused [trials]), scale the rest by 1/(1 - rate)."""

    rate: float | Tensor

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.stream = DropoutStream()

    def forward(self, inputs: Tensor) -> Tensor:
        """Apply a mask to [batch, ..., units]; when fused [trials, batch, ..., units]."""
        if self.idle:
            return inputs
        return inputs * self.mask(tuple(inputs.shape), inputs)

    @property
    def idle(self) -> bool:
        return not self.training or (isinstance(self.rate, float | int) and self.rate == 0)

    def mask(self, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """Draw a mask of 0 and 1/(1 - rate) with the dtype of `like`; a scalar 1 if idle."""
        if self.idle:
            return like.new_ones(())
        key = self.stream.next(like.device)
        fused = key.dim() == 1
        sizes = shape[1:] if fused else shape

        def numbered(axis: int, factor: Tensor) -> Tensor:
            numbers = torch.arange(sizes[axis], dtype=torch.int32, device=like.device)
            return numbers.mul_(factor)

        bits = key.reshape(-1, *(1,) * (len(sizes) - 1)) if fused else key
        bits = bits + numbered(0, FOURTH).reshape(-1, *(1,) * (len(sizes) - 2))
        if len(sizes) == 3:
            bits = bits + numbered(1, THIRD)
        bits, units = mix(bits), numbered(-1, GOLDEN)
        bits = mix_high_bits(bits[..., None] + units).reshape(shape)
        if isinstance(self.rate, Tensor):  # in double precision, for masks equal to the unfused
            rate = self.rate.double()
            lowest = (torch.round(rate * 2**32) - 2**31).to(torch.int32)
            scale = (1 / (1 - rate)).to(like.dtype).view(-1, *(1,) * (bits.dim() - 1))
            return torch.where(bits >= per_trial(lowest, bits), scale, 0.0)
        kept = bits.ge_(round(self.rate * 2**32) - 2**31)  # a share `rate` of int32 is smaller
        return kept.to(like.dtype).mul_(1 / (1 - self.rate))


def share_stream(model: nn.Module) -> DropoutStream:
    """Share one stream among all Dropout modules of a model, so that their masks differ."""
    stream = DropoutStream()
    for module in model.modules():
        if isinstance(module, Dropout):
            module.stream = stream
    return stream
