"""The texts that stage `texts` wrote: where they lie, and what they are known by."""

import json
from dataclasses import dataclass
from pathlib import Path

from actmodels.errors import ArtefactError
from pipeline.running.stage import artefacts

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
        ArtefactError: there is none of this name, or not the one that the summary tells of.
    """
    path, summary = text_file(name), artefacts("texts", SUMMARY)
    try:
        found = json.loads(summary.read_text(encoding="utf-8"))["texts"][name]
        text = StoredText(name, path, int(found["bytes"]), str(found["sha256"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArtefactError(
            f"{summary} is missing or has no text {name}; run: dvc repro texts"
        ) from error
    if not path.is_file() or path.stat().st_size != text.bytes:
        raise ArtefactError(
            f"{path} is missing or has not the {text.bytes:,} bytes that the summary tells of; "
            "run: dvc repro -f texts"
        )
    return text
