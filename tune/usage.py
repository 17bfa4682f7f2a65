"""What a pack takes of the machine that trains it."""

import resource
import sys
from typing import Any

import psutil
import ray  # noqa: F401  brings psutil along
import torch

from tune.provenance import machine

MIB = 2**20
UNIT = 1 if sys.platform == "darwin" else 2**10  # of ru_maxrss: bytes on macOS, KiB on Linux


def used(device: str) -> dict[str, Any]:
    """The device's name, and the most memory that this process has had of it, in MiB.

    On a CPU that is memory of the process, which has also trained what came before.
    """
    if device == "cuda":
        taken = torch.cuda.max_memory_allocated() / MIB
        return {"device": machine()["gpu"], "peak_memory_mib": round(taken)}
    taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT / MIB
    return {"device": machine()["cpu"], "peak_memory_mib": round(taken)}


def load(device: str) -> dict[str, float]:
    """How busy the machine is, in MLflow's names: its CPUs since the last call, memory now."""
    memory = psutil.virtual_memory()
    found = {
        "system/cpu_utilization_percentage": psutil.cpu_percent(),
        "system/system_memory_usage_megabytes": memory.used / 1e6,
        "system/system_memory_usage_percentage": memory.percent,
    }
    if device == "cuda":
        free, whole = torch.cuda.mem_get_info()
        found["system/gpu_0_memory_usage_megabytes"] = (whole - free) / 1e6
        found["system/gpu_0_memory_usage_percentage"] = 100 * (1 - free / whole)
    return found
