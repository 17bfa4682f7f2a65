"""The code that a registered model takes along: what its answers need, and no training."""

import ast
import hashlib
import shutil
from importlib.metadata import version
from pathlib import Path

from actmodels.provenance import imported_modules, without_prose
from actmodels.registry import MODELS

ROOT = Path(__file__).parents[2]
PACKAGES = ("actmodels", "pipeline")
LOADER = "pipeline.answering.loader"
LIBRARIES = ("torch", "safetensors", "numpy", "pandas")  # MLflow adds itself


def code_files(model: str) -> list[Path]:
    """The files that loading and asking `model` imports, found by following imports.

    Models and halting are found by name (actmodels.registry), so those of `model` are added.
    """
    architecture = MODELS[model]
    own = [architecture.model] + ([architecture.halting.halting] if architecture.halting else [])
    pending = [LOADER, *(name.split(":")[0] for name in own)]
    seen: set[Path] = set()
    while pending:
        for path in _files(pending.pop()):
            if path not in seen:
                seen.add(path)
                pending += imported_modules(ast.parse(path.read_text(encoding="utf-8")))
    return sorted(seen)


def copy_code(model: str, folder: Path) -> list[Path]:
    """Copy these files, packages as they are, into a folder; gives the packages' folders."""
    for path in code_files(model):
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return [folder / package for package in PACKAGES]


def code_digest(model: str) -> str:
    """SHA-256 over these files without comments, and over the versions of the libraries."""
    digest = hashlib.sha256("\n".join(requirements()).encode())
    for path in code_files(model):
        digest.update(path.relative_to(ROOT).as_posix().encode())
        digest.update(without_prose(ast.parse(path.read_text(encoding="utf-8"))).encode())
    return digest.hexdigest()


def requirements() -> list[str]:
    """Exact versions of the libraries; without a local suffix such as +cpu, which no index has."""
    return [f"{name}=={version(name).split('+')[0]}" for name in LIBRARIES]


def _files(module: str) -> list[Path]:
    """A module of this project with the packages it is in; empty for anything else."""
    parts = module.split(".")
    if parts[0] not in PACKAGES:
        return []
    paths = [ROOT.joinpath(*parts[:end]) / "__init__.py" for end in range(1, len(parts) + 1)]
    paths.append(ROOT.joinpath(*parts).with_suffix(".py"))
    return [path for path in paths if path.is_file()]
