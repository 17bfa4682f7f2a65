"""What a stage finds in a project's folder: parameters, files to fetch, artifacts."""

import hashlib
import json
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]


def write_params(folder: Path, **sections: Any) -> None:
    """The demo's params.yaml, but for some sections; mappings replace single keys of theirs."""
    params = YAML(typ="safe", pure=True).load(ROOT / "conf" / "base.yaml")
    YAML().dump(merged(params, sections), folder / "params.yaml")


def merged(tree: Any, changes: Any) -> Any:
    """A tree with the leaves of another one in place of its own."""
    if not (isinstance(tree, dict) and isinstance(changes, dict)):
        return changes
    return tree | {name: merged(tree.get(name), value) for name, value in changes.items()}


def fetched(path: Path) -> dict[str, Any]:
    """How params.yaml names a file that is to be fetched."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {"urls": [path.as_uri()], "sha256": digest, "bytes": None}


def written(folder: Path, stage: str) -> dict[str, bytes]:
    """The files of an artifact by name; none where it is not there."""
    made = folder / "artifacts" / stage
    files = sorted(made.iterdir()) if made.exists() else []
    return {path.name: path.read_bytes() for path in files if path.is_file()}


def read_output(folder: Path, stage: str, name: str = "summary.json") -> Any:
    """What a JSON file of an artifact says."""
    return json.loads((folder / "artifacts" / stage / name).read_text(encoding="utf-8"))
