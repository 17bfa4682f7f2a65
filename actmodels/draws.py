"""Where random numbers come from: a purpose and a seed, so that no two draws are alike by chance.

Two generators with the same seed give the same bits: a matrix that is drawn with the trial's seed
would be a copy of any other one of the same trial. The purpose sets them apart.
"""

import hashlib

import torch


def seed_of(purpose: str, *numbers: int) -> int:
    """A seed for one purpose: 63 bits of SHA-256, of which torch's CPU generator keeps 32.

    Args:
        purpose: what is drawn. numbers: which of its kind, such as the trial's seed and the epoch.
    """
    digest = hashlib.sha256(repr((purpose, *numbers)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def generator(purpose: str, *numbers: int) -> torch.Generator:
    """A generator on the CPU at the beginning of its draws; see `seed_of`."""
    return torch.Generator().manual_seed(seed_of(purpose, *numbers))
