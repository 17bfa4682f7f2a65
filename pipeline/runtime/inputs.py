"""Verify a stage's inputs before it runs, and that they do not change while it runs.

DVC records parameters and dependencies when a stage *ends*: it would record an edit in between
with results of the old values. The recorded digests of outputs reveal corrupt files.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pprint import saferepr  # sorts keys, also of several types
from tempfile import mkdtemp
from typing import Any

import yaml

from actmodels.errors import ArtifactError
from actmodels.files import file_digest, known
from pipeline.parameters.load import is_endless, read_yaml_text

PIPELINE, LOCK, PARAMS = Path("dvc.yaml"), Path("dvc.lock"), Path("params.yaml")
NOT_YAML = (ValueError, LookupError, AttributeError, RecursionError, yaml.YAMLError)


@contextmanager
def checked_inputs(stage: str, quarantine: Path) -> Iterator[None]:
    """Check the inputs of a stage before and after the block, which runs it.

    Args:
        quarantine: the folder for corrupt files.

    Raises:
        ArtifactError: see verify_digests; or an input changed.
    """
    before = inputs(stage)
    known.update((Path(name).absolute(), digest) for name, digest in before.items())
    verify_digests(stage, before, quarantine)
    yield
    after = inputs(stage)
    changed = [name for name in before | after if before.get(name) != after.get(name)]
    if changed:
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        raise ArtifactError(
            f"{stage}: its inputs changed while it ran ({', '.join(changed[:3])}{more}), so its "
            "results are not recorded; run dvc repro again (finished trials are kept)"
        )


def inputs(stage: str) -> dict[str, str]:
    """Return the MD5 or value of each file and parameter that dvc.yaml lists for a stage.

    Empty outside a project, and for a command that is not a stage.
    """
    declared = _declared(stage)
    values = {f"{PARAMS}: {key}": saferepr(node) for key, node in _values(declared).items()}
    for path in (p for dependency in declared.get("deps", []) for p in _files(Path(dependency))):
        values[path.as_posix()] = _digest(path)
    return values


def has_recorded_params(stage: str) -> bool:
    """Return whether DVC recorded a stage's outputs with the present parameters, or not at all."""
    present = _values(_declared(stage))
    try:
        values = yaml_tree(LOCK)["stages"][stage]["params"][PARAMS.name]
    except (LookupError, TypeError):  # verify_digests names a corrupt file
        return True
    return all(saferepr(present.get(key)) == saferepr(value) for key, value in values.items())


def verify_digests(stage: str, digests: dict[str, str], quarantine: Path) -> None:
    """Compare the stage's `inputs` with the digests that DVC recorded when they were written.

    Raises:
        ArtifactError: an input is missing; or its digest differs, and it is quarantined together
            with corrupt copies in DVC's cache.
    """
    read = [Path(dependency) for dependency in _declared(stage).get("deps", [])]
    problems = []
    for producer, name, digest in list(_recorded()):
        path = Path(name)
        if not any(path.is_relative_to(d) or d.is_relative_to(path) for d in read):
            continue
        if not os.path.lexists(path):
            problems.append(f"{name} is missing; run: dvc repro {producer}")
        elif (digests.get(name) or _folder_digest(path, digests)) != digest:
            # DVC would restore a corrupt cached copy over the stage's new output
            files = (path, *_corrupt(_cache(), digest))
            moved = ", ".join(str(_quarantine(file, quarantine)) for file in files)
            problems.append(
                f"{name} is not the output of stage {producer}: it is corrupt or was edited; "
                f"quarantined as {moved}; run: dvc repro -f -s {producer}"
            )
    if problems:
        raise ArtifactError("\n".join(problems))


def _recorded() -> Iterator[tuple[str, str, str]]:
    """Yield stage, path and digest of each output that DVC has recorded."""
    present = stage_names()
    try:
        stages = yaml_tree(LOCK)["stages"] if os.path.lexists(LOCK) else {}
        for producer, recorded in stages.items():
            if "@" not in producer or producer in present:  # else one that params.yaml left out
                for out in recorded.get("outs", []):
                    yield producer, out["path"], out["md5"]
    except (KeyError, TypeError, AttributeError) as error:
        raise ArtifactError(
            f"{LOCK} is corrupt; move it away (finished trials are kept) and run: dvc repro"
        ) from error


def _cache() -> Path:
    """Return the folder of DVC's cache, as configured in DVC."""
    command = [sys.executable, "-m", "dvc", "cache", "dir"]
    return Path(os.fsdecode(subprocess.run(command, capture_output=True).stdout.strip()))


def _corrupt(cache: Path, digest: str) -> list[Path]:
    """Return the cached files of an output whose digest is not the one in their name."""
    path = cache / "files" / "md5" / digest[:2] / digest[2:]
    if not path.is_file():
        return []
    if _digest(path) != digest.removesuffix(".dir"):
        return [path]
    entries = json.loads(path.read_bytes()) if digest.endswith(".dir") else []
    return [file for entry in entries for file in _corrupt(cache, entry["md5"])]


def _quarantine(path: Path, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.move(path, mkdtemp(prefix=f"{path.parent.name}-", dir=folder)))


def _declared(stage: str) -> dict[str, Any]:
    """Return the entry of a stage in dvc.yaml; that of `study@NAME` is made by `foreach`."""
    name, _, item = stage.partition("@")
    declared = (yaml_tree(PIPELINE).get("stages") or {}).get(name) or {}
    filled: dict[str, Any] = json.loads(
        json.dumps(declared.get("do", declared)).replace("${item}", item)
    )
    return filled


def _values(declared: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that an entry of dvc.yaml lists, with their values."""
    params, values = yaml_tree(PARAMS), {}
    for key in declared.get("params", []):
        node: Any = params
        for part in key.split("."):
            node = node.get(part) if isinstance(node, dict) else None
        values[key] = node
    return values


def stage_names() -> list[str]:
    """Return the stages in the order of dvc.yaml, which is that of `dvc repro`."""
    params, names = yaml_tree(PARAMS), list[str]()
    for name, declared in (yaml_tree(PIPELINE).get("stages") or {}).items():
        listed = declared.get("foreach")  # ${studies}
        names += [f"{name}@{item}" for item in params.get(listed[2:-1]) or ()] if listed else [name]
    return names


def yaml_tree(path: Path) -> dict[str, Any]:
    """Return a YAML mapping, empty if unreadable; libyaml is ten times as fast as ruamel."""
    try:
        tree = yaml.load(read_yaml_text(path), yaml.CSafeLoader)
    except (FileNotFoundError, *NOT_YAML):
        return {}
    return tree if isinstance(tree, dict) and not is_endless(tree) else {}


def _digest(path: Path) -> str:
    try:
        return file_digest(path, "md5")
    except FileNotFoundError:  # removed in the meantime
        return "missing"


def _folder_digest(path: Path, digests: dict[str, str]) -> str:
    """Return DVC's digest of a folder: the MD5 of the sorted listing of its files."""
    for folder in (path, *path.rglob("*")):
        if folder.is_dir():
            list(folder.iterdir())  # PermissionError, where rglob would find no files
    files = sorted(
        (file.relative_to(path).as_posix(), digests.get(file.as_posix()) or _digest(file))
        for file in path.rglob("*")
        if file.is_file() and not file.match(".*.tmp")  # as in .dvcignore
    )
    listing = [{"md5": digest, "relpath": name} for name, digest in files]
    text = json.dumps(listing, sort_keys=True)
    return f"{hashlib.md5(text.encode()).hexdigest()}.dir"


def _files(path: Path) -> list[Path]:
    """Return a file, or the files in a folder except bytecode and hidden files."""
    if path.is_file():
        return [path]
    below = (p for p in path.rglob("*") if p.is_file())
    kept = (p for p in below if not any(q == "__pycache__" or q[0] == "." for q in p.parts))
    return sorted(kept)
