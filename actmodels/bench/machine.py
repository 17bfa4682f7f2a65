"""What the figures were measured on."""

import os
import platform
import time
from pathlib import Path
from typing import Any

import torch

CPUS = Path("/proc/cpuinfo")
MEMORY = Path("/proc/meminfo")
TIMES = Path("/proc/stat")


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


def busy(seconds: float = 0.5) -> float | None:
    """Which share of the processors others use, this process waiting; None where nobody counts.

    A load average would still count what this process did before.
    """
    if not TIMES.is_file():
        return None
    before = _times()
    time.sleep(seconds)
    spent = [after - then for after, then in zip(_times(), before, strict=True)]
    idle = spent[3] + spent[4]  # idle, and waiting for a disk
    return round(1 - idle / max(sum(spent), 1), 3)


def _times() -> list[int]:
    """Ticks of all processors together: user, nice, system, idle, iowait, irq, softirq, steal."""
    return [int(ticks) for ticks in TIMES.read_text().splitlines()[0].split()[1:9]]


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
