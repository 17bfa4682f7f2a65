"""What the figures were measured on."""

import os
import platform
from pathlib import Path
from typing import Any

import torch

CPUS = Path("/proc/cpuinfo")
MEMORY = Path("/proc/meminfo")


def machine() -> dict[str, Any]:
    """Processor, cores, memory, accelerator and versions; the same at every call."""
    return {
        "cpu": _field(CPUS, "model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": _memory(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "system": platform.system(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "instructions": torch.backends.cpu.get_cpu_capability(),
    }


def load() -> float | None:
    """How many processes wanted a processor in the last minute; None where nobody counts."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _memory() -> float | None:
    found = _field(MEMORY, "MemTotal")
    return None if found is None else round(int(found.split()[0]) / 2**20, 1)


def _field(path: Path, name: str) -> str | None:
    """The value of the first line `name: value` of one of the kernel's files."""
    if not path.is_file():
        return None
    for line in path.read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return None
