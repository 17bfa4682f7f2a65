"""Seeds by purpose, so that one trial seed gives independent random numbers per purpose."""

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def seed_of(purpose: str, *numbers: int) -> int:
    """Return 63 bits of SHA-256 as a seed; torch's CPU generator keeps 32 of them."""
    digest = hashlib.sha256(repr((purpose, *numbers)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def generator(purpose: str, *numbers: int) -> "torch.Generator":
    """Return a new CPU generator, seeded by `seed_of`."""
    import torch  # takes more than a second, and seed_of does without

    return torch.Generator().manual_seed(seed_of(purpose, *numbers))
