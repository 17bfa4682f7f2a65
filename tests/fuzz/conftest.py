"""How many examples: HOSTILE_EXAMPLES of each property, drawn with HOSTILE_SEED (any, printed)."""

import os
import random
import secrets
from collections.abc import Iterator

import pytest


@pytest.fixture
def examples() -> Iterator[random.Random]:
    """Generators of random numbers, one an example; their seed stands in what a failure prints."""
    seed = os.environ.get("HOSTILE_SEED") or str(secrets.randbelow(10**6))
    print(f"HOSTILE_SEED={seed}")
    count = int(os.environ.get("HOSTILE_EXAMPLES", "60"))
    return (random.Random(f"{seed}/{number}") for number in range(count))
