"""The file that tests of fetching ask for, and what is left after it came."""

import hashlib
import random
from pathlib import Path

from pipeline.sources.download import fetch

CONTENT = random.Random(1).randbytes(300_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
HALF = 150_000
KEY = "corpus.snli"


def get(store: Path, *urls: str, size: int | None = None) -> Path:
    return fetch(urls, SHA256, size, store, KEY)


def check(path: Path, store: Path) -> None:
    """The whole file under its name, and nothing but the lock beside it."""
    assert path == store / f"{SHA256[:16]}-file.zip"
    assert path.read_bytes() == CONTENT
    assert sorted(store.iterdir()) == [path, path.with_name(path.name + ".lock")]


def part(store: Path) -> Path:
    return store / f"{SHA256[:16]}-file.zip.part"
