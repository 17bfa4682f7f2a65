"""Provenance of a trial's result, and the key that identifies it.

The key is a hash of configuration, data, code and numerical environment. The code is read once:
workers get the same text (tune.local_ray), even if a file is edited meanwhile.
"""

import ast
import functools
import hashlib
import json
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from actmodels.trial_config import BaseTrialConfig

PACKAGE = Path(__file__).parents[1] / "actmodels"
TYPING = "if TYPE_CHECKING:"
# Files of declarations: the key covers their values with the configuration.
DECLARATIONS = ("registry.py", "configs.py", "validators.py", "config.py")


@functools.cache
def sources(*packages: Path) -> dict[Path, str]:
    """Return the text of each module of packages."""
    paths = [path for package in packages for path in sorted(package.rglob("*.py"))]
    return {path: path.read_text(encoding="utf-8") for path in paths}


@functools.cache
def imported_modules(text: str) -> list[str]:
    """Return the names of modules imported at run time, with `from package import module`."""
    names: list[str] = []
    statements = [s for s in ast.parse(text).body if not ast.unparse(s).startswith(TYPING)]
    for node in (node for statement in statements for node in ast.walk(statement)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module] + [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def files_behind(names: Iterable[str], texts: Mapping[Path, str], root: Path) -> list[Path]:
    """Return the files among `texts`, sorted, that an import of modules under `root` loads."""
    pending, seen = list(names), set[Path]()
    while pending:
        parts = pending.pop().split(".")
        folders = [root.joinpath(*parts[:end]) for end in range(1, len(parts) + 1)]
        files = [folder / "__init__.py" for folder in folders] + [folders[-1].with_suffix(".py")]
        for path in files:
            if path in texts and path not in seen:
                seen.add(path)
                pending += imported_modules(texts[path])
    return sorted(seen)


@functools.cache
def without_prose(text: str) -> str:
    """Return a module's syntax tree without docstrings and comments, as text."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)


def code_packages(config: BaseTrialConfig) -> list[Path]:
    """Return the folders of this package and of the one that declares the type of a trial."""
    declaring = type(config).__module__.partition(".")[0]
    return list(dict.fromkeys([PACKAGE, PACKAGE.parent / declaring]))


def code_files(config: BaseTrialConfig) -> dict[Path, str]:
    """Return the files that train and evaluate a trial, by their imports, with their text.

    They include the files of fused training, but not those of other models and halting mechanisms.
    """
    references = (config.loader, config.trainer, config.fused_trainer, *config.references)
    modules = [name.split(":")[0] for name in references if name is not None]
    texts = {path: text for one in code_packages(config) for path, text in sources(one).items()}
    files = files_behind(modules, texts, PACKAGE.parent)
    left_out = (*DECLARATIONS, "__init__.py")
    return {path: texts[path] for path in files if path.name not in left_out}


def code_digest(files: Mapping[Path, str], root: Path, requirements: Iterable[str] = ()) -> str:
    """Return SHA-256 over requirements and source files, without comments and docstrings."""
    digest = hashlib.sha256("\n".join(requirements).encode())
    for path, text in files.items():
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(without_prose(text).encode())
    return digest.hexdigest()


def provenance(
    config: BaseTrialConfig, data_digest: str, device: str, threads: int
) -> dict[str, str]:
    """Return all that determines a trial's result besides its configuration."""
    return {
        "code": code_digest(code_files(config), PACKAGE.parent),
        "data": data_digest,
        "device": device,
        "threads": str(threads),
        "torch": version("torch"),
    }


def trial_key(config: Mapping[str, Any], origin: Mapping[str, str]) -> str:
    """Return a trial's key, 16 hexadecimal digits of SHA-256; origin: its `provenance`."""
    identity = json.dumps({"config": config, "origin": origin}, sort_keys=True)
    return hashlib.sha256(identity.encode()).hexdigest()[:16]
