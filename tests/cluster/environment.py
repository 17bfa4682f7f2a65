"""A Python environment with ray[tune], torch and their dependencies only."""

import importlib.metadata
import sys
from pathlib import Path

import torch
from packaging.requirements import Requirement

INSTALLED = Path(torch.__file__).parents[1]  # the folder of this environment's distributions
REQUIRED = ("ray[tune]", "torch")


def closure(*requirements: str) -> set[str]:
    names: set[str] = set()
    seen: set[tuple[str, str]] = set()
    queue = [(Requirement(text), "") for text in requirements]
    while queue:
        requirement, extra = queue.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        names.add(requirement.name)
        for wanted in ("", *requirement.extras):
            if (requirement.name, wanted) not in seen:
                seen.add((requirement.name, wanted))
                inner = importlib.metadata.requires(requirement.name) or ()
                queue += [(Requirement(text), wanted) for text in inner]
    return names


def entries(distribution: str) -> set[str]:
    files = importlib.metadata.files(distribution) or ()
    return {file.parts[0] for file in files} - {"..", "__pycache__"}


def make_environment(folder: Path, installed: Path) -> Path:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = folder / "lib" / version / "site-packages"
    packages.mkdir(parents=True)
    for name in set().union(*map(entries, closure(*REQUIRED))):
        (packages / name).symlink_to(installed / name)
    binaries = Path(sys.base_prefix, "bin")
    (folder / "pyvenv.cfg").write_text(f"home = {binaries}\ninclude-system-site-packages = false\n")
    python = folder / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(binaries / version)
    return python
