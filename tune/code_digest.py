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
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from actmodels.trial_config import BaseTrialConfig

PACKAGE = Path(__file__).parents[1] / "actmodels"
TYPING = "if TYPE_CHECKING:"
# Files of declarations: the key covers their values with the configuration.
DECLARATIONS = ("registry.py", "configs.py", "validators.py", "config.py")


@functools.cache
def sources(*packages: Path) -> dict[Path, str]:
    """Return the text of each module of packages, which are folders or single files."""
    found = ([one] if one.is_file() else sorted(one.rglob("*.py")) for one in packages)
    paths = [path for files in found for path in files]
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


def files_behind(names: Iterable[str], texts: Mapping[Path, str], *roots: Path) -> list[Path]:
    """Return the files among `texts`, sorted, that an import of modules under `roots` loads."""
    pending, seen = list(names), set[Path]()
    while pending:
        parts = pending.pop().split(".")
        files: list[Path] = []
        for root in roots:
            folders = [root.joinpath(*parts[:end]) for end in range(1, len(parts) + 1)]
            files += [folder / "__init__.py" for folder in folders]
            files.append(folders[-1].with_suffix(".py"))
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
    """Return the packages of a trial: that of the library, of its type, and of its model."""
    modules = (type(config).__module__, *config.references)
    return list(dict.fromkeys([PACKAGE, *map(package_of, modules)]))


def package_of(module: str) -> Path:
    """Return the folder of a module's package, or the file of a module without one.

    Raises:
        ModuleNotFoundError: there is none.
    """
    top = module.partition(":")[0].partition(".")[0]
    if (folder := PACKAGE.parent / top).is_dir():
        return folder
    spec = find_spec(top)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no package {top} for {module}")
    origin = Path(spec.origin)
    return origin.parent if spec.submodule_search_locations else origin


def code_folder(config: BaseTrialConfig) -> Path:
    """Return the folder whose commit is that of a trial: this project, or that of its own code."""
    *_, last = code_packages(config)
    folder = last if last.is_dir() else last.parent
    return PACKAGE.parent if folder.is_relative_to(PACKAGE.parent) else folder


def code_files(config: BaseTrialConfig) -> dict[Path, str]:
    """Return the files that train and evaluate a trial, by their imports, with their text.

    They include the files of fused training, but not those of other models and halting mechanisms.
    """
    references = (config.loader, config.trainer, config.fused_trainer, *config.references)
    modules = [name.split(":")[0] for name in references if name is not None]
    texts = {path: text for one in code_packages(config) for path, text in sources(one).items()}
    files = files_behind(modules, texts, *code_roots(config))
    left_out = (*DECLARATIONS, "__init__.py")
    return {path: texts[path] for path in files if path.name not in left_out}


def code_roots(config: BaseTrialConfig) -> list[Path]:
    """Return the folders from which the packages of a trial are imported."""
    return list(dict.fromkeys(package.parent for package in code_packages(config)))


def code_digest(files: Mapping[Path, str], *roots: Path, requirements: Iterable[str] = ()) -> str:
    """Return SHA-256 over requirements and source files, without comments and docstrings."""
    digest = hashlib.sha256("\n".join(requirements).encode())
    for path, text in files.items():
        root = max((r for r in roots if path.is_relative_to(r)), key=lambda r: len(r.parts))
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(without_prose(text).encode())
    return digest.hexdigest()


def provenance(
    config: BaseTrialConfig, data_digest: str, device: str, threads: int
) -> dict[str, str]:
    """Return all that determines a trial's result besides its configuration."""
    return {
        "code": code_digest(code_files(config), *code_roots(config)),
        "data": data_digest,
        "device": device,
        "threads": str(threads),
        "torch": version("torch"),
    }


def trial_key(config: Mapping[str, Any], origin: Mapping[str, str]) -> str:
    """Return a trial's key, 16 hexadecimal digits of SHA-256; origin: its `provenance`."""
    identity = json.dumps({"config": config, "origin": origin}, sort_keys=True)
    return hashlib.sha256(identity.encode()).hexdigest()[:16]
