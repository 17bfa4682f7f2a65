"""Where a run comes from: its code, its versions, and the machine."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

CPUS = Path("/proc/cpuinfo")


def provenance_tags() -> dict[str, str]:
    """Commit of the code and versions of what computes the results."""
    versions = {f"{name}_version": version(name) for name in ("torch", "ray")}
    return {"git_commit": commit(), "python_version": platform.python_version(), **versions}


def commit() -> str:
    """The commit of the code, "unknown" outside git.

    It ends in "-dirty" if tracked files differ, other than dvc.lock and artifacts.
    """
    folder = Path(__file__).parent

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    outputs = (":(top,exclude)dvc.lock", ":(top,exclude)artifacts")
    try:
        dirty = git("status", "--porcelain", "--untracked-files=no", "--", ":/", *outputs)
        return git("rev-parse", "HEAD") + ("-dirty" if dirty else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def machine() -> dict[str, Any]:
    """Processor, cores, memory, accelerator and versions; the same at every call."""
    import torch  # a second, which stages that train nothing are spared

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
