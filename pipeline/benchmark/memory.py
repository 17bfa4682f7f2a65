"""Resident memory at its highest while trials train, each measured in a process of its own."""

import resource
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor

from actmodels.data.batching import batches_by_length
from actmodels.data.trial_data import TrialData
from pipeline.benchmark.plan import Plan, Say
from pipeline.benchmark.processes import in_new_process
from pipeline.benchmark.ways import Pack, plain_twin, single
from pipeline.benchmark.work import TINY, Sizes, drawn_data, sampled_batches

PAIRS = 10_000  # few, so that the pairs themselves weigh little; a sweep maps them from a file
UPDATES = 4
STATUS = Path("/proc/self/status")


def peak_mebibytes() -> float:
    """The highest resident memory of this process so far."""
    if not STATUS.is_file():  # the count also of its parent when that started it
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return used / (2**20 if sys.platform == "darwin" else 2**10)
    (line,) = (row for row in STATUS.read_text().splitlines() if row.startswith("VmHWM"))
    return int(line.split()[1]) / 2**10


def train(way: str, sizes: Sizes, data: TrialData, batches: Sequence[Tensor], trials: int) -> None:
    """Train trials once on all batches."""
    if trials > 1:
        Pack(sizes.width, data, batches, trials).run()
    elif way == "plain":
        plain_twin(single(sizes.width, data, batches)).run(batches)
    else:
        single(sizes.width, data, batches).train_epoch()


def peak(way: str, sizes: Sizes, batch_size: int, trials: int) -> float:
    """What training takes at its highest; of `nothing`, what it takes before there is a trial."""
    small, data = drawn_data(TINY), drawn_data(sizes)
    train("ours", TINY, small, sampled_batches(small.train, 8, UPDATES), 1)  # all code is loaded
    longest = list(batches_by_length(data.train, batch_size))[-2]  # the last may be smaller
    if way != "nothing":
        batches = [*sampled_batches(data.train, batch_size, UPDATES), longest]
        train(way, sizes, data, batches, trials)
    return peak_mebibytes()


def measure(plan: Plan, say: Say) -> dict[str, Any]:
    """Rows of each way of training and size of a pack; the data are drawn anew, and fewer."""
    sizes = replace(plan.sizes, pairs=min(PAIRS, plan.sizes.pairs))
    rows = []
    for batch_size in sorted({min(plan.batch_sizes), max(plan.batch_sizes)}):
        say(f"batch {batch_size}")
        base = in_new_process(peak, "nothing", sizes, batch_size, 0)
        ways = [("plain", 1), ("ours", 1), *(("packed", trials) for trials in plan.packs)]
        for way, trials in ways:
            say(f"batch {batch_size}: {way}, {trials} trials")
            highest = in_new_process(peak, way, sizes, batch_size, trials)
            rows.append(
                {
                    "batch_size": batch_size,
                    "way": way,
                    "trials": trials,
                    "peak_mebibytes": highest,
                    "base_mebibytes": base,
                    "per_trial_mebibytes": (highest - base) / trials,
                }
            )
    return {"rows": rows}
