"""Provenance of a result: the key that identifies it, commit, versions and machine.

The key is a hash of configuration, data, code and numerical environment. The code is read once:
workers get the same text (tune.cluster.local_ray), even if a file is edited meanwhile.
"""

import ast
import functools
import getpass
import hashlib
import json
import logging
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from actmodels.trial_config import BaseTrialConfig

log = logging.getLogger(__name__)
PROJECT = Path(__file__).parents[2]
PACKAGE = PROJECT / "actmodels"
TYPING = "if TYPE_CHECKING:"
# Files of declarations: the key covers their values with the configuration.
DECLARATIONS = ("registry.py", "configs.py", "validators.py", "config.py")
CPUS = Path("/proc/cpuinfo")
# git sets these in hooks
REPOSITORY = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"}


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
    if (folder := PROJECT / top).is_dir():
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
    return PROJECT if folder.is_relative_to(PROJECT) else folder


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


def provenance_tags(code: Path = PROJECT) -> dict[str, str]:
    """Return the commit of the code in a folder, and the versions of Python, torch and Ray."""
    versions = {f"{name}_version": version(name) for name in ("torch", "ray")}
    return {"git_commit": commit(code), "python_version": platform.python_version(), **versions}


def git(folder: Path, *arguments: str) -> str:
    """Return the output of git in a folder's repository, also in a hook of another (GIT_DIR)."""
    environment = {name: os.environ[name] for name in os.environ.keys() - REPOSITORY}
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout


def commit(folder: Path = PROJECT) -> str:
    """Return the commit of a folder, which may be a part of a repository; "unknown" outside git.

    "-dirty" is appended if tracked files of the folder differ, except dvc.lock and artifacts.
    """
    outputs = (":(exclude)dvc.lock", ":(exclude)artifacts")
    try:
        dirty = git(folder, "status", "--porcelain", "--untracked-files=no", "--", ".", *outputs)
        return git(folder, "rev-parse", "HEAD").strip() + ("-dirty" if dirty else "")
    except OSError:
        return "unknown"
    except subprocess.CalledProcessError as error:
        if "safe.directory" in error.stderr:
            advice = error.stderr.split("\t")[-1].strip()
            log.warning(
                "the commit is unknown: git refuses a folder of another user; run: %s", advice
            )
        return "unknown"


def user() -> str:
    """Return the user's name; the number of one without a name, as in containers."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def machine() -> dict[str, Any]:
    """Return processor, cores, memory, accelerator and versions; constant for a machine."""
    import torch  # takes a second, and not every stage needs it

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    lines = CPUS.read_text().splitlines() if CPUS.is_file() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return {
        "cpu": next(iter(names), "") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "system": platform.system(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "instructions": torch.backends.cpu.get_cpu_capability(),
    }
