"""A folder that holds what one run wrote, or nothing."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def fresh(folder: Path) -> Iterator[None]:
    """Empty the folder first and on failure: it never holds the files of two runs."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
