"""artefacts/bench/bench.json: what is measured so far, written whole after every part."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actmodels.errors import ArtefactError
from actmodels.files import write_text
from reports.bench import bench_report


class Document:
    """The figures of one machine and one plan.

    Args:
        folder: holds bench.json and bench.md.
        identity: what all parts have in common: machine, plan, sentences.
        keys: what each part's figures hold for (pipeline.benchmark.parts.part_key); a stored part
            with another key is dropped, since one document must not mix them.

    Raises:
        ArtefactError: bench.json is damaged.
    """

    def __init__(self, folder: Path, identity: Mapping[str, Any], keys: Mapping[str, str]) -> None:
        self.json, self.markdown = folder / "bench.json", folder / "bench.md"
        self.keys = keys
        stored = _stored(self.json)
        parts, failed = stored["parts"], stored["failed"]
        valid = {name: part for name, part in parts.items() if part["key"] == keys.get(name)}
        self.dropped = sorted(set(parts) - set(valid))
        self.order = list(keys)
        self.content: dict[str, Any] = {**identity, "parts": valid, "failed": failed}

    def __contains__(self, part: str) -> bool:
        return part in self.content["parts"]

    def add(self, name: str, found: Mapping[str, Any]) -> None:
        """Take in what a part measured, and write."""
        self.content["failed"].pop(name, None)
        self.content["parts"][name] = {"key": self.keys[name], **found}
        self.write()

    def fail(self, name: str, reason: str) -> None:
        """Take in why a part failed, and write; what it measured before is gone."""
        self.content["parts"].pop(name, None)
        self.content["failed"][name] = reason
        self.write()

    def write(self) -> None:
        """Write both files, the parts in their own order."""
        for kind in ("parts", "failed"):
            stored = self.content[kind]
            self.content[kind] = {name: stored[name] for name in self.order if name in stored}
        write_text(self.json, json.dumps(self.content, indent=1, allow_nan=False) + "\n")
        write_text(self.markdown, bench_report(self.content))


def _stored(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {"parts": {}, "failed": {}}
    try:
        stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        keys = [part["key"] for part in stored["parts"].values()]
        if not isinstance(stored["failed"], dict):
            raise TypeError
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        shown = path.relative_to(path.parents[2]) if len(path.parents) > 2 else path
        raise ArtefactError(f"{shown} is damaged; remove it and run again: make bench") from error
    assert all(isinstance(key, str) for key in keys)
    return stored
