"""What figures were measured on."""

import os
import platform
from pathlib import Path
from typing import Any

import torch

CPUS = Path("/proc/cpuinfo")


def machine() -> dict[str, Any]:
    """Processor, cores, memory, accelerator and versions; the same at every call."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": _model_name() or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "system": platform.system(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "instructions": torch.backends.cpu.get_cpu_capability(),
    }


def _model_name() -> str | None:
    """What Linux calls the first processor."""
    lines = CPUS.read_text().splitlines() if CPUS.is_file() else []
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), None)
