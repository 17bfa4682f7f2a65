"""What a stage reads, as it was when the stage began.

DVC writes into dvc.lock what parameters and dependencies say when a stage *ends*: after an edit in
between, the result of the old ones would stand there as that of the new ones, up to date.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from actmodels.errors import ArtefactError
from actmodels.sealed import file_digest

PIPELINE, PARAMS = Path("dvc.yaml"), Path("params.yaml")


def inputs(stage: str) -> dict[str, str]:
    """Each file and each parameter that dvc.yaml lists for a stage, with its digest or value.

    Nothing where DVC does not run: outside a project, or for a command that is no stage.
    """
    declared = (_tree(PIPELINE).get("stages") or {}).get(stage) or {}
    found = {f"{PARAMS}: {key}": value for key, value in _values(declared.get("params", []))}
    for dependency in declared.get("deps", []):
        for path in _files(Path(dependency)):
            found[path.as_posix()] = _digest(path)
    return found


def check_unchanged(stage: str, before: dict[str, str]) -> None:
    """Compare with what was there when the stage began.

    Raises:
        ArtefactError: something differs; DVC then records nothing.
    """
    now = inputs(stage)
    changed = [name for name in before | now if before.get(name) != now.get(name)]
    if changed:
        shown = ", ".join(_said(name, before, now) for name in changed[:3])
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        raise ArtefactError(
            f"{stage}: what it reads changed while it ran ({shown}{more}), so its results are not "
            "recorded; run dvc repro again (finished trials are kept)"
        )


def _said(name: str, before: dict[str, str], now: dict[str, str]) -> str:
    if not name.startswith(f"{PARAMS}: "):
        return name
    old, new = (values.get(name, "absent") for values in (before, now))
    return f"{name} was {old} and is {new}"


def _tree(path: Path) -> dict[str, Any]:
    """A YAML mapping; empty if there is none to read."""
    try:
        tree = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, YAMLError):
        return {}
    return tree if isinstance(tree, dict) else {}


def _digest(path: Path) -> str:
    try:
        return file_digest(path)
    except OSError as error:  # removed in this very moment, or not ours to read
        return str(error)


def _values(keys: list[str]) -> Iterator[tuple[str, str]]:
    """The single parameters at or below dotted keys of params.yaml, as JSON."""
    tree = _tree(PARAMS)
    for key in keys:
        node: Any = tree
        for part in key.split("."):
            node = node.get(part) if isinstance(node, dict) else None
        yield from _leaves(key, node)


def _leaves(key: str, node: Any) -> Iterator[tuple[str, str]]:
    if isinstance(node, dict) and node:
        for name, value in node.items():
            yield from _leaves(f"{key}.{name}", value)
    else:
        yield key, json.dumps(node, default=str)


def _files(path: Path) -> list[Path]:
    """A file, or the files below a folder, but for what Python and editors leave there."""
    if path.is_file():
        return [path]
    below = (p for p in path.rglob("*") if p.is_file())
    kept = (p for p in below if not any(q == "__pycache__" or q[0] == "." for q in p.parts))
    return sorted(kept)
