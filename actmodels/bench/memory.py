"""Resident memory at its highest while trials train, each measured in a process of its own."""

import resource
import sys
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from actmodels.bench.packing import Pack, pack_training
from actmodels.bench.plain import PlainTraining
from actmodels.bench.plan import Plan, Say
from actmodels.bench.side_by_side import server
from actmodels.bench.trials import prepared
from actmodels.bench.workload import TINY, Sizes, drawn_data, sampled_batches, trial
from actmodels.data.batching import batches_by_length
from actmodels.data.trial_data import TrialData

PAIRS = 10_000  # few, so that the pairs themselves weigh little; a sweep maps them from a file
UPDATES = 4
STATUS = Path("/proc/self/status")


def peak_mebibytes() -> float:
    """The highest resident memory of this process so far."""
    if STATUS.is_file():  # ru_maxrss would count what the parent had when it started this process
        (line,) = (row for row in STATUS.read_text().splitlines() if row.startswith("VmHWM"))
        return int(line.split()[1]) / 2**10
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (2**20 if sys.platform == "darwin" else 2**10)


def nothing(sizes: Sizes, data: TrialData, batches: list[Tensor], trials: int) -> None:
    """What a process needs before it has a trial: torch, all it loads for training, the data."""
    small = drawn_data(TINY)
    prepared(trial(TINY, 8), small, sampled_batches(small.train, 8, UPDATES)).train_epoch()


def plain(sizes: Sizes, data: TrialData, batches: list[Tensor], trials: int) -> None:
    """One trial, trained the plain way."""
    config = trial(sizes, len(batches[0]))
    PlainTraining(config, prepared(config, data, batches).model, data).run(batches)


def ours(sizes: Sizes, data: TrialData, batches: list[Tensor], trials: int) -> None:
    """One trial by itself, or a pack of unlike ones."""
    if trials == 1:
        prepared(trial(sizes, len(batches[0])), data, batches).train_epoch()
    else:
        Pack(pack_training(sizes, data, batches, "unlike", trials), batches).run()


def _child(
    connection: Connection, work: Callable[..., None], sizes: Sizes, batch_size: int, trials: int
) -> None:
    torch.set_num_threads(1)
    data = drawn_data(sizes)
    longest = list(batches_by_length(data.train, batch_size))[-2]  # the last may be smaller
    batches = [*sampled_batches(data.train, batch_size, UPDATES), longest]
    work(sizes, data, batches, trials)
    connection.send(peak_mebibytes())


def in_child(work: Callable[..., None], sizes: Sizes, batch_size: int, trials: int) -> float:
    """The highest resident memory of a process that does `work`, in MiB.

    Raises:
        EOFError: the process ended before its end.
    """
    context = server()
    ours, theirs = context.Pipe()
    arguments = (theirs, work, sizes, batch_size, trials)
    process = context.Process(target=_child, args=arguments, daemon=True)
    process.start()
    theirs.close()
    try:
        peak: float = ours.recv()
    finally:
        process.terminate()
        process.join()
    return peak


def measure(plan: Plan, data: TrialData, say: Say) -> dict[str, Any]:
    """Rows of each way of training and size of a pack; the data are drawn anew, and fewer."""
    sizes = replace(plan.sizes, pairs=min(PAIRS, plan.sizes.pairs))
    rows = []
    for batch_size in sorted({min(plan.batch_sizes), max(plan.batch_sizes)}):
        say(f"batch {batch_size}")
        base = in_child(nothing, sizes, batch_size, 0)
        ways = [("plain", plain, 1), ("ours", ours, 1)]
        ways += [("ours", ours, trials) for trials in plan.memory_packs if trials > 1]
        for way, work, trials in ways:
            say(f"batch {batch_size}: {way}, {trials} trials")
            peak = in_child(work, sizes, batch_size, trials)
            rows.append(
                {
                    "way": way,
                    "batch_size": batch_size,
                    "trials": trials,
                    "peak_mebibytes": peak,
                    "base_mebibytes": base,
                    "per_trial_mebibytes": (peak - base) / trials,
                }
            )
    return {"rows": rows}
