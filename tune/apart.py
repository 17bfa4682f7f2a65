"""Sweeps that leave nothing behind, for benchmarks."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tune.cluster import TOKEN_VARIABLES

USERS = ("RAY_ADDRESS", "MLFLOW_TRACKING_URI")  # a cluster and a server that are not measured


@contextmanager
def apart(workspace: Path) -> Iterator[Path]:
    """A new folder in `workspace` for one sweep; it goes in the end, and Ray's files with it."""
    if not any(name in os.environ for name in TOKEN_VARIABLES):
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)  # stays: a process reads it once
    environment = dict(os.environ)
    workspace.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="benchmark-", dir=workspace)).resolve()
    rays = Path(tempfile.mkdtemp(prefix="ray-"))  # a short path, as sockets need
    try:
        for name in USERS:
            os.environ.pop(name, None)
        os.environ.setdefault("RAY_TMPDIR", str(rays))
        yield folder
    finally:
        os.environ.clear()
        os.environ.update(environment)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(rays, ignore_errors=True)
