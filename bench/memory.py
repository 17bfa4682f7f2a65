"""Resident memory at its highest while trials train, each in a process of its own; on Linux."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from actmodels.data.pairs import batches_by_length
from bench.plan import Plan, Say
from bench.processes import in_new_process
from bench.ways import Pack, plain_twin, single
from bench.work import TINY, Sizes, drawn_data, sampled_batches

PAIRS = 10_000  # few, so that the pairs themselves weigh little; a sweep maps them from a file
UPDATES = 4
STATUS = Path("/proc/self/status")


def train(way: str, sizes: Sizes, batch_size: int, trials: int) -> None:
    """Train trials once on a few batches, the longest among them."""
    data = drawn_data(sizes)
    longest = list(batches_by_length(data.train, batch_size))[-2]  # the last may be smaller
    batches = [*sampled_batches(data.train, batch_size, UPDATES), longest]
    if way == "packed":
        Pack(sizes.width, data, batches, trials).run()
    elif way == "plain":
        plain_twin(single(sizes.width, data, batches)).run(batches)
    elif way == "ours":
        single(sizes.width, data, batches).train_epoch()


def peak(way: str, sizes: Sizes, batch_size: int, trials: int) -> float:
    """MiB that training takes; that `nothing` takes are those of a process without a trial."""
    train("ours", TINY, 8, 1)  # all code is loaded
    train(way, sizes, batch_size, trials)
    (line,) = (row for row in STATUS.read_text().splitlines() if row.startswith("VmHWM"))
    return int(line.split()[1]) / 2**10


def measure(plan: Plan, say: Say) -> dict[str, Any]:
    """Rows of each way of training and size of a pack; the data are drawn anew, and fewer."""
    sizes, rows = replace(plan.sizes, pairs=min(PAIRS, plan.sizes.pairs)), []
    ways = [("nothing", 0), ("plain", 1), ("ours", 1), *(("packed", n) for n in plan.packs)]
    for batch_size in sorted({min(plan.batch_sizes), max(plan.batch_sizes)}):
        base = 0.0
        for way, trials in ways:
            say(f"batch {batch_size}: {way}, {trials} trials")
            highest = in_new_process(peak, way, sizes, batch_size, trials)
            base = base or highest
            rows.append(
                {
                    "batch_size": batch_size,
                    "way": way,
                    "trials": trials,
                    "peak_mebibytes": highest,
                    "per_trial_mebibytes": (highest - base) / trials if trials else None,
                }
            )
    return {"rows": rows}
