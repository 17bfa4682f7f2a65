"""Which code computes a trial's result, and the key that names the result.

A record is found again by its key alone, so the key covers all that decides it: the
configuration, the data, the code, and the numerical environment. The code is that of the moment
when it is first asked for: workers get the same text (tune.cluster), whatever is edited meanwhile.
"""

import ast
import functools
import hashlib
import json
from pathlib import Path

import torch

from actmodels.comprehension.config import PREFIX
from actmodels.kinds import AnyTrialConfig
from actmodels.registry import HALTINGS, MODELS
from actmodels.sequences.config import HALTING_KINDS

PACKAGE = Path(__file__).parent
DECLARATIONS = (
    *("registry.py", "settings.py"),
    *("sequences/settings.py", "comprehension/settings.py"),
)


@functools.cache
def sources(package: Path) -> dict[Path, str]:
    """The text of each module of a package, as it is at the first call."""
    return {path: path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))}


def module_path(name: str) -> Path | None:
    """The file of a module of this package, or None if `name` is something else."""
    if name.split(".")[0] != PACKAGE.name:
        return None
    path = PACKAGE.parent.joinpath(*name.split("."))
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file in sources(PACKAGE)), None)


def imported_modules(tree: ast.Module) -> list[str]:
    """Names of the modules a syntax tree imports, also those of `from package import module`."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module] + [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def without_prose(tree: ast.Module) -> str:
    """The tree without docstrings and comments: better words do not make another program."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)


def entry_points(model: str) -> list[Path]:
    """Where the code of a model begins: its training, and what is found by name."""
    if model in MODELS:
        architecture = MODELS[model]
        halting = architecture.halting
        own = [architecture.model] + ([halting.halting] if halting else [])
        first = [PACKAGE / "training.py", PACKAGE / "packed" / "training.py"]
    elif model.startswith(PREFIX):  # on cloze questions
        own, first = [], [PACKAGE / "comprehension" / "data.py"]
    else:  # on sequences, whose halting is one of a few
        own = [HALTINGS[kind].halting for kind in HALTING_KINDS if kind in HALTINGS]
        first = [PACKAGE / "sequences" / "training.py", PACKAGE / "sequences" / "build.py"]
    return first + [path for name in own if (path := module_path(name.split(":")[0]))]


def code_files(model: str) -> list[Path]:
    """The files of this package that train and evaluate `model`, found by following imports.

    Those that train packs are among them: whether a trial was alone is not part of its key.

    Models and halting are found by name and not imported by the others, so that a change to one
    of them leaves the results of the rest standing; those of `model` are added here. What the
    declarations hold is in the key already, value by value.
    """
    pending, seen = entry_points(model), set[Path]()
    while pending:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        imported = imported_modules(ast.parse(sources(PACKAGE)[path]))
        pending += [found for name in imported if (found := module_path(name))]
    return sorted(seen - {PACKAGE / name for name in DECLARATIONS})


def code_digest(model: str) -> str:
    """SHA-256 over the code that computes a trial of `model`."""
    digest = hashlib.sha256()
    for path in code_files(model):
        digest.update(path.relative_to(PACKAGE).as_posix().encode())
        digest.update(without_prose(ast.parse(sources(PACKAGE)[path])).encode())
    return digest.hexdigest()


def provenance(model: str, data_digest: str, device: str, threads: int) -> dict[str, str]:
    """All that decides a trial's result besides its configuration."""
    return {
        "code": code_digest(model),
        "data": data_digest,
        "device": device,
        "threads": str(threads),
        "torch": torch.__version__,
    }


def trial_key(config: AnyTrialConfig, origin: dict[str, str]) -> str:
    """The name of a trial's result: 16 hexadecimal digits of SHA-256."""
    identity = json.dumps({"config": config.as_dict(), "origin": origin}, sort_keys=True)
    return hashlib.sha256(identity.encode()).hexdigest()[:16]
