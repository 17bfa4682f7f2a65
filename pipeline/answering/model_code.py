"""The code that a registered model takes along: what its answers need, and no training."""

import hashlib
import shutil
from importlib.metadata import version
from pathlib import Path

from actmodels.imports import files_behind, sources, without_prose
from actmodels.registry import MODELS

ROOT = Path(__file__).parents[2]
PACKAGES = ("actmodels", "pipeline")
LOADER = "pipeline.answering.loader"
LIBRARIES = ("torch", "safetensors", "numpy", "pandas")  # MLflow adds itself


def code() -> dict[Path, str]:
    """The text of each module that may go along."""
    return sources(*(ROOT / package for package in PACKAGES))


def code_files(model: str) -> list[Path]:
    """The files that loading and asking `model` imports, found by following imports.

    Models and halting are found by name (actmodels.registry), so those of `model` are added.
    """
    names = [LOADER, *(name.split(":")[0] for name in MODELS[model].classes)]
    return files_behind(names, code(), ROOT)


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
    texts = code()
    for path in code_files(model):
        digest.update(path.relative_to(ROOT).as_posix().encode())
        digest.update(without_prose(texts[path]).encode())
    return digest.hexdigest()


def requirements() -> list[str]:
    """Exact versions of the libraries; without a local suffix such as +cpu, which no index has."""
    return [f"{name}=={version(name).split('+')[0]}" for name in LIBRARIES]
