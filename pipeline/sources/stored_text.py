"""A text that stage `texts` wrote."""

from dataclasses import dataclass
from pathlib import Path

from pipeline.running.results import read_json
from pipeline.running.stage import made


@dataclass(frozen=True)
class StoredText:
    """A text as raw bytes.

    path: absolute. sha256: of the text, not of what it was fetched in.
    """

    name: str
    path: Path
    sha256: str


def stored_text(name: str) -> StoredText:
    """Find a text; raises ArtefactError if there is none of this name."""
    path = made("texts", f"{name}.txt")
    return StoredText(name, path, read_json("texts", "summary.json")["texts"][name]["sha256"])
