"""Dropout whose masks are a hash of (trial, epoch, update; layer, example, token, unit) alone.

So a trial draws the same masks alone and when fused, on any device, behind any padding, and when
it resumes.
"""

import torch
from torch import Tensor, nn

from actmodels.modules.linear import per_trial

# Odd constants with well mixed bits, as signed 32-bit numbers; products wrap around. These and the
# others are tensors since torch makes one of every number, which takes as long as the operation.
GOLDEN, SECOND, THIRD, FOURTH, HALF, LOW_HALF, THIRTEEN, LOW_19 = torch.tensor(
    [-1640531527, -2048144789, -1028477379, 668265263, 16, 0xFFFF, 13, 0x7FFFF], dtype=torch.int32
)


def mixed(bits: Tensor) -> Tensor:
    """Mix 32-bit integers in place, as MurmurHash3's finaliser: one bit changes half of the others.

    A shift of torch's repeats the sign; the mask takes those bits away.
    """
    high_bits_mixed(bits)
    bits ^= (bits >> HALF).bitwise_and_(LOW_HALF)
    return bits


def high_bits_mixed(bits: Tensor) -> Tensor:
    """The same but for the last shift, which does little for the high bits, in place."""
    bits ^= (bits >> HALF).bitwise_and_(LOW_HALF)
    bits *= SECOND
    bits ^= (bits >> THIRTEEN).bitwise_and_(LOW_19)
    bits *= THIRD
    return bits


class DropoutStream:
    """The source of the masks of one model's Dropout modules.

    key: int32 [], or when fused [trials]; None draws a key for each mask from torch's generator.
    calls: masks drawn since the key was set.
    """

    def __init__(self) -> None:
        self.key: Tensor | None = None
        self.calls = 0

    def restart(self, key: Tensor) -> None:
        self.key, self.calls = key, 0

    def next(self, device: torch.device) -> Tensor:
        """What the next mask's places are added to, of the shape of `key`."""
        if self.key is None:
            return torch.randint(-(2**31), 2**31, (), dtype=torch.int64).int().to(device)
        self.calls += 1
        return self.key + GOLDEN * self.calls


def update_key(seed: int | Tensor, epoch: int | Tensor, update: int) -> Tensor:
    """The key of one update, int32 []; of seeds and epochs [trials] of a fusion, int32 [trials]."""
    key = (torch.as_tensor(seed) % 2**31).to(torch.int32)
    for number in (epoch, update):
        key = mixed(key * FOURTH + torch.as_tensor(number, dtype=torch.int32))
    return key


class Dropout(nn.Module):
    """Set units to 0 with probability `rate` (when fused [trials]), and scale the others."""

    rate: float | Tensor

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.stream = DropoutStream()

    def forward(self, inputs: Tensor) -> Tensor:
        """Drop units of [batch, ..., units], when fused [trials, batch, ..., units]."""
        if self.idle:
            return inputs
        return inputs * self.mask(tuple(inputs.shape), inputs)

    @property
    def idle(self) -> bool:
        return not self.training or (isinstance(self.rate, float | int) and self.rate == 0)

    def mask(self, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """Draw zeros and 1/(1 - rate) of a shape and the type of `like`; a single 1 if idle."""
        if self.idle:
            return like.new_ones(())
        key = self.stream.next(like.device)
        fused = key.dim() == 1
        places = shape[1:] if fused else shape

        def numbered(axis: int, factor: Tensor) -> Tensor:
            numbers = torch.arange(places[axis], dtype=torch.int32, device=like.device)
            return numbers.mul_(factor)

        bits = key.reshape(-1, *(1,) * (len(places) - 1)) if fused else key
        bits = bits + numbered(0, FOURTH).reshape(-1, *(1,) * (len(places) - 2))
        if len(places) == 3:
            bits = bits + numbered(1, THIRD)
        bits, units = mixed(bits), numbered(-1, GOLDEN)
        bits = high_bits_mixed(bits[..., None] + units).reshape(shape)  # to be compared
        if isinstance(self.rate, Tensor):  # in double precision on the device, for equal masks
            rate = self.rate.double()
            lowest = (torch.round(rate * 2**32) - 2**31).to(torch.int32)
            scale = (1 / (1 - rate)).to(like.dtype).view(-1, *(1,) * (bits.dim() - 1))
            return torch.where(bits >= per_trial(lowest, bits), scale, 0.0)
        kept = bits.ge_(round(self.rate * 2**32) - 2**31)  # the share `rate` of all is smaller
        return kept.to(like.dtype).mul_(1 / (1 - self.rate))


def share_stream(model: nn.Module) -> DropoutStream:
    """Give all Dropout modules of a model one stream, so that no two masks are alike."""
    stream = DropoutStream()
    for module in model.modules():
        if isinstance(module, Dropout):
            module.stream = stream
    return stream
