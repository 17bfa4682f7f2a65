"""How many examples: HOSTILE_EXAMPLES of each property, drawn with HOSTILE_SEED (any, printed)."""

import os
import random
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.conftest import once, prepared, shared_ray, undisturbed, whole  # noqa: F401


@pytest.fixture
def examples() -> Iterator[random.Random]:
    """Generators of random numbers, one an example; their seed stands in what a failure prints."""
    seed = os.environ.get("HOSTILE_SEED") or str(secrets.randbelow(10**6))
    print(f"HOSTILE_SEED={seed}")
    count = int(os.environ.get("HOSTILE_EXAMPLES", "60"))
    return (random.Random(f"{seed}/{number}") for number in range(count))


@pytest.fixture
def finished(request: pytest.FixtureRequest) -> Path:
    """A project after all its stages: HOSTILE_PROJECT, or one that is made now, in minutes."""
    given = os.environ.get("HOSTILE_PROJECT")
    return Path(given) if given else Path(request.getfixturevalue("whole").folder)
