"""What a stage reads: is it what the stages before it wrote, and the same at the end as before?

DVC writes into dvc.lock what parameters and dependencies say when a stage *ends*: after an edit in
between, the result of the old ones would stand there as that of the new ones, up to date. It also
has the digest of everything that a stage wrote, so that damage is told where it is read.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import yaml

from actmodels.errors import ArtefactError
from pipeline.parameters.files import endless, text_of
from pipeline.running.stage import state_folder

PIPELINE, LOCK, PARAMS = Path("dvc.yaml"), Path("dvc.lock"), Path("params.yaml")


def inputs(stage: str) -> dict[str, str]:
    """Each file and each parameter that dvc.yaml lists for a stage, with its digest or value.

    Nothing where DVC does not run: outside a project, or for a command that is no stage.
    """
    declared = _declared(stage)
    found = {f"{PARAMS}: {key}": value for key, value in _values(declared.get("params", []))}
    for dependency in declared.get("deps", []):
        for path in _files(Path(dependency)):
            found[path.as_posix()] = _digest(path)
    return found


def check_as_written(stage: str, before: dict[str, str]) -> None:
    """Compare with the digests of what other stages wrote, as far as DVC has recorded any.

    Args:
        before: the stage's `inputs`.

    Raises:
        ArtefactError: something is missing, or not what its stage wrote, and is set aside: DVC
            would overwrite it. Corrupt copies in DVC's cache are set aside, too.
    """
    read = [Path(dependency) for dependency in _declared(stage).get("deps", [])]
    problems, cache = [], None
    for maker, name, digest in list(_recorded()):
        path = Path(name)
        if not any(path.is_relative_to(d) or d.is_relative_to(path) for d in read):
            continue
        if not os.path.lexists(path):
            problems.append(f"{name} is missing; run: dvc repro {maker}")
        elif (before.get(name) or _folder_digest(path, before)) != digest:
            # DVC would put its own copy in place of what the stage writes
            cache = cache or _cache()
            aside = ", ".join(str(_set_aside(file)) for file in (path, *_corrupt(cache, digest)))
            problems.append(
                f"{name} is not what the stage {maker} wrote: it is damaged or was edited; "
                f"set aside as {aside}; run: dvc repro -f -s {maker}"
            )
    if problems:
        raise ArtefactError("\n".join(problems))


def _recorded() -> Iterator[tuple[str, str, str]]:
    """Of whatever was written, as far as DVC has recorded any: its stage, its path, its digest."""
    try:
        for maker, recorded in _tree(LOCK)["stages"].items() if os.path.lexists(LOCK) else ():
            for out in recorded.get("outs", []):
                yield maker, out["path"], out["md5"]
    except (KeyError, TypeError, AttributeError) as error:
        raise ArtefactError(
            f"{LOCK} is damaged; move it away (finished trials are kept) and run: dvc repro"
        ) from error


def _cache() -> Path:
    """Return the folder of DVC's cache, which its settings may place elsewhere."""
    command = [sys.executable, "-m", "dvc", "cache", "dir"]
    return Path(os.fsdecode(subprocess.run(command, capture_output=True).stdout.strip()))


def _corrupt(cache: Path, digest: str) -> list[Path]:
    """Return the cached files of an output that do not have the digest in their name."""
    path = cache / "files" / "md5" / digest[:2] / digest[2:]
    if not path.is_file():
        return []
    if _digest(path) != digest.removesuffix(".dir"):
        return [path]
    listed = json.loads(path.read_bytes()) if digest.endswith(".dir") else []
    return [file for entry in listed for file in _corrupt(cache, entry["md5"])]


def _set_aside(path: Path) -> Path:
    """Move a file or a folder to where DVC and stages, which empty their folders, leave it."""
    (place := state_folder() / "damaged").mkdir(parents=True, exist_ok=True)
    return Path(shutil.move(path, mkdtemp(prefix=f"{path.parent.name}-", dir=place)))


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


def first_unreadable(before: dict[str, str]) -> str | None:
    """A sentence on the first artefact that is not even of its kind; None if all are.

    For a stage that broke: whatever it stumbled over, this is why.
    """
    for name in before:
        path = Path(name)
        if path.parts[0] == "artefacts" and (why := _unreadable(path)):
            return f"{name} {why}; run: dvc repro -f -s {path.parts[1]}"
    return None


def _unreadable(path: Path) -> str | None:
    if path.suffix not in (".json", ".jsonl", ".csv", ".tsv", ".txt"):
        return None  # tensors say so themselves
    try:
        text = path.read_text(encoding="utf-8")
        parts = {".json": [text], ".jsonl": text.splitlines()}.get(path.suffix, [])
        read = [json.loads(part) for part in parts]
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except UnicodeDecodeError as error:
        return f"is not UTF-8 at byte {error.start}"
    except (ValueError, RecursionError) as error:
        return f"is not JSON: {str(error)[:100]}"
    wrong = [part for part in read if not isinstance(part, dict)]
    return f"holds {json.dumps(wrong[0])[:20]}, where an object is expected" if wrong else None


def _said(name: str, before: dict[str, str], now: dict[str, str]) -> str:
    if not name.startswith(f"{PARAMS}: "):
        return name
    old, new = (values.get(name, "absent") for values in (before, now))
    return f"{name} was {old} and is {new}"


def _declared(stage: str) -> dict[str, Any]:
    """What dvc.yaml says of a stage."""
    return (_tree(PIPELINE).get("stages") or {}).get(stage) or {}


def _tree(path: Path) -> dict[str, Any]:
    """A YAML mapping; empty if there is none to read.

    By libyaml, ten times as fast as the reader of params.yaml: every stage waits for this.
    """
    try:
        tree = yaml.load(text_of(path), yaml.CSafeLoader)
    except PermissionError:
        raise
    except (OSError, ValueError, LookupError, AttributeError, RecursionError, yaml.YAMLError):
        return {}
    return tree if isinstance(tree, dict) and not endless(tree) else {}


def _digest(path: Path) -> str:
    """As DVC has it; PermissionError for a file that may be sound."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "md5").hexdigest()
    except PermissionError:
        raise
    except OSError as error:  # removed in this very moment
        return str(error)


def _folder_digest(path: Path, known: dict[str, str]) -> str:
    """As DVC has it: that of the sorted listing of its files, of which some are known."""
    for folder in (path, *path.rglob("*")):
        if folder.is_dir():
            list(folder.iterdir())  # PermissionError, where rglob would find no files
    files = sorted(
        (file.relative_to(path).as_posix(), known.get(file.as_posix()) or _digest(file))
        for file in path.rglob("*")
        if file.is_file() and not file.match(".*.tmp")  # .dvcignore: a kill left it
    )
    listing = [{"md5": digest, "relpath": name} for name, digest in files]
    text = json.dumps(listing, sort_keys=True)
    return f"{hashlib.md5(text.encode()).hexdigest()}.dir"


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
