"""Random word vectors that belong to their words: a larger vocabulary keeps those of the others.

A generator seeded per word will not do: torch's keeps 32 bits of its seed, which among 40,000
words gives one chance in six that two of them share a vector. The bits come from a hash instead.
"""

import hashlib
from collections.abc import Sequence

import torch
from torch import Tensor
from tqdm import tqdm

CHUNK_WORDS = 4096


def draw_vectors(words: Sequence[str], dimensions: int, seed: int, std: float) -> Tensor:
    """Vectors from N(0, std), each a function of (seed, word) alone.

    Returns:
        float32 [len(words), dimensions]; row i is that of words[i].
    """
    vectors = torch.empty(len(words), dimensions)
    with tqdm(total=len(words), desc="vectors", unit=" words") as bar:
        for first in range(0, len(words), CHUNK_WORDS):
            chunk = words[first : first + CHUNK_WORDS]
            bits = b"".join(_bits(word, seed, dimensions) for word in chunk)
            integers = torch.frombuffer(bytearray(bits), dtype=torch.int32).double()
            uniform = (integers + 2.0**31 + 0.5) / 2.0**32  # inside (0, 1), never at an end
            normal = torch.special.ndtri(uniform) * std
            vectors[first : first + len(chunk)] = normal.view(len(chunk), dimensions)
            bar.update(len(chunk))
    return vectors


def _bits(word: str, seed: int, dimensions: int) -> bytes:
    """Four bytes per dimension."""
    return hashlib.shake_256(f"{seed} {word}".encode()).digest(4 * dimensions)
