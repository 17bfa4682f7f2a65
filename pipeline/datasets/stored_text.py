"""Texts of the stage `texts`."""

from pathlib import Path
from typing import NamedTuple

from pipeline.runtime.results import read_json
from pipeline.runtime.stage import require_artifact


class StoredText(NamedTuple):
    """A text; its path is absolute, and its SHA-256 is that of the text, not of an archive."""

    name: str
    path: Path
    sha256: str


def stored_text(name: str) -> StoredText:
    """Find a text by name; raise ArtifactError if it is missing."""
    path = require_artifact("texts", f"{name}.txt")
    return StoredText(name, path, read_json("texts", "summary.json")["texts"][name]["sha256"])
