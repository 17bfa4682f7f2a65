"""Paths, globs and URLs of files in params.yaml."""

import re
from glob import glob
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from pipeline.runtime.stage import project

REMOTE, LOCAL = (re.compile(scheme, re.I) for scheme in ("https?://", "file:///"))


def local_path(place: str) -> Path:
    """Return the absolute path of a path from the project's folder, or of a file:/// URL."""
    if LOCAL.match(place):
        return Path(url2pathname(urlsplit(place).path))
    return (project() / (Path(place).expanduser() if place.startswith("~/") else place)).absolute()


def matches(place: str) -> list[str]:
    """Return the files that a glob matches, sorted; none for a path that exists, or a URL."""
    if "://" in place or (local := local_path(place)).exists():
        return []
    return sorted(glob(str(local)))  # noqa: PTH207  (a**b)
