"""Which code a module rests on: its imports, followed to their end. The standard library alone."""

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path


def sources(*packages: Path) -> dict[Path, str]:
    """The text of each module of some packages."""
    paths = [path for package in packages for path in sorted(package.rglob("*.py"))]
    return {path: path.read_text(encoding="utf-8") for path in paths}


def imported_modules(text: str) -> list[str]:
    """Names of the modules a module imports, also those of `from package import module`."""
    names: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module] + [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def files_behind(names: Iterable[str], texts: Mapping[Path, str], root: Path) -> list[Path]:
    """The files among `texts`, in order, that importing some modules under `root` reads."""
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


def without_prose(text: str) -> str:
    """A module without docstrings and comments: better words do not make another program."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)
