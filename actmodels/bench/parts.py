"""The parts of the benchmark by name, and one of them measured."""

import time
from collections.abc import Callable
from typing import Any

from actmodels.bench import flops, gpu, inference, memory, packs, single
from actmodels.bench.machine import busy
from actmodels.bench.plan import Plan, Say
from actmodels.data.trial_data import TrialData

Part = Callable[[Plan, TrialData, Say], dict[str, Any]]

PARTS: dict[str, Part] = {
    "single": single.measure,
    "flops": flops.measure,
    "packs": packs.measure,
    "inference": inference.measure,
    "memory": memory.measure,
    "gpu": gpu.measure,
}


def run_part(name: str, plan: Plan, data: TrialData, say: Say) -> dict[str, Any]:
    """What a part found, and how busy the machine was before it began."""
    others, start = busy(), time.perf_counter()
    found = PARTS[name](plan, data, say)
    return {"others_before": others, "seconds": round(time.perf_counter() - start, 1), **found}
