"""A text that stage `texts` wrote."""

from dataclasses import dataclass
from pathlib import Path

from pipeline.runtime.results import read_json
from pipeline.runtime.stage import require_artifact


@dataclass(frozen=True)
class StoredText:
    """A text as raw bytes.

    path: absolute. sha256: of the text, not of what it was fetched in.
    """

    name: str
    path: Path
    sha256: str


def stored_text(name: str) -> StoredText:
    """Find a text; raises ArtifactError if there is none of this name."""
    path = require_artifact("texts", f"{name}.txt")
    return StoredText(name, path, read_json("texts", "summary.json")["texts"][name]["sha256"])
