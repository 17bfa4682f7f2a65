"""Write the inputs of a stage into a project folder, and read its artifacts."""

import hashlib
import json
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from actmodels.errors import UserError
from pipeline.parameters.studies import study_names

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "fixtures" / "golden"


@cache
def read_yaml(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def study_file(name: str, root: Path = ROOT) -> dict[str, Any]:
    """Return conf/study/NAME.yaml over its defaults."""
    text = (root / "conf" / "study" / f"{name}.yaml").read_text(encoding="utf-8")
    tree = deepcopy(read_yaml(text))
    for default in tree.pop("defaults", []):
        tree = merged(study_file(default, root), tree)
    return dict(tree)


@cache
def shipped_params() -> str:
    """Return the params.yaml of git's index, as `act-nli use` may have changed the file."""
    if not (shutil.which("git") and (ROOT / ".git").exists()):
        return (ROOT / "params.yaml").read_text(encoding="utf-8")
    return subprocess.check_output(["git", "show", ":params.yaml"], cwd=ROOT, text=True)


def params_tree(*studies: str, **sections: Any) -> dict[str, Any]:
    """Return the demo's params.yaml with these studies and sections; mappings are merged.

    A study with a section is on.
    """
    tree = deepcopy(read_yaml(shipped_params()))
    params = {name: section for name, section in tree.items() if name not in study_names()}
    names = [*studies, *(name for name in sections if name in study_names())]
    for name in names:
        params = merged(params, study_file(name))
    return dict(merged(params | {"studies": names}, sections))


def write_params(folder: Path, **sections: Any) -> None:
    """Write params.yaml with changed sections."""
    params = params_tree(**sections)
    own, local = params["corpus"]["source"] == "files", params["vectors"]["source"] == "glove"
    params["watch"] = ["corpus"] * own + ["vectors"] * local
    YAML().dump(params, folder / "params.yaml")


def merged(tree: Any, changes: Any) -> Any:
    """Merge the leaves of `changes` into a tree."""
    if not (isinstance(tree, dict) and isinstance(changes, dict)):
        return changes
    return tree | {name: merged(tree.get(name), value) for name, value in changes.items()}


def fetched(path: Path) -> dict[str, Any]:
    """Return the params.yaml entry of a file to download."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {"urls": [path.as_uri()], "sha256": digest, "bytes": None}


def make_zip(path: Path, members: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            # of 1980: the same bytes at any time
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return path


def written(folder: Path, stage: str) -> dict[str, bytes]:
    """Return the files of an artifact by name."""
    made = folder / "artifacts" / stage
    files = sorted(made.iterdir()) if made.exists() else []
    return {path.name: path.read_bytes() for path in files if path.is_file()}


def read_output(folder: Path, stage: str, name: str = "summary.json") -> Any:
    """Read a JSON file of an artifact."""
    return json.loads((folder / "artifacts" / stage / name).read_text(encoding="utf-8"))


def transcribe(
    golden: Callable[..., None], name: str, names: dict[str, Any], cwd: str = ""
) -> None:
    """Evaluate each line of a golden file; the indented lines below are its result or error."""
    text = ""
    for line in (GOLDEN / name).read_text(encoding="utf-8").split("\n")[:-1]:
        if line.startswith("  "):
            continue
        text += f"{line}\n"
        if line and not line.startswith("#"):
            try:
                result = eval(line, names)
            except UserError as error:
                result = str(error)
            shown = result if isinstance(result, list) else str(result).split("\n")
            lines = [f"  {one}".replace(cwd or "\0", "").rstrip() for one in shown]
            text += "".join(f"{line}\n" for line in lines if line)
    golden(name, text)
