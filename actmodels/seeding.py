"""Random numbers by purpose and seed; the purpose keeps draws of one trial's seed apart."""

import hashlib

import torch


def seed_of(purpose: str, *numbers: int) -> int:
    """A seed for one purpose: 63 bits of SHA-256, of which torch's CPU generator keeps 32."""
    digest = hashlib.sha256(repr((purpose, *numbers)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def generator(purpose: str, *numbers: int) -> torch.Generator:
    """A generator on the CPU at the beginning of its draws; see `seed_of`."""
    return torch.Generator().manual_seed(seed_of(purpose, *numbers))
