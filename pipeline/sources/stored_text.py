"""The texts that stage `texts` wrote: where they lie, and what they are known by."""

from dataclasses import dataclass
from pathlib import Path

from pipeline.running.results import read_json
from pipeline.running.stage import artefacts, made

SUMMARY = "summary.json"


@dataclass(frozen=True)
class StoredText:
    """A text as raw bytes.

    path: absolute. bytes, sha256: of the text itself, not of what it was fetched in.
    """

    name: str
    path: Path
    bytes: int
    sha256: str


def text_file(name: str) -> Path:
    """Absolute path of a text."""
    return artefacts("texts", f"{name}.txt")


def stored_text(name: str) -> StoredText:
    """A text that stage `texts` wrote.

    Raises:
        ArtefactError: there is none of this name.
    """
    path = made("texts", f"{name}.txt")
    found = read_json("texts", SUMMARY)["texts"][name]
    return StoredText(name, path, found["bytes"], found["sha256"])
