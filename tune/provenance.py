"""Provenance of a run: code, versions and machine."""

import getpass
import logging
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)
CPUS = Path("/proc/cpuinfo")
PROJECT = Path(__file__).parents[1]
# git sets these in hooks
REPOSITORY = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"}


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
