"""Speed and memory of many trials on one GPU: one by one, in processes that share it, or fused."""

import math
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import product
from threading import Barrier
from typing import Any, NamedTuple

import torch
from torch import multiprocessing

from actmodels.data.pairs import batches_by_length
from actmodels.data.trial_data import TrialData
from bench.timing import Summary, progress, summary
from bench.work import Sizes, build_fusion, drawn_data, epoch_runner, sampled
from tune.cluster.worker_process import configure_torch

UPDATES, RUNS = 128, 2  # updates of a run; timed runs
SECONDS = 420.0  # budget of the table
DEV_BATCH = 256  # as in actmodels.training
THIRD = (432 + 54) // 3 * 15 * 549_367  # of the paper's grid: trials · epochs · pairs
BATCH_SIZES = (8, 16, 32)
BARRIER_SECONDS = 120.0  # until a process that has not come counts as failed


class Way(NamedTuple):
    """A way to train many trials on one GPU."""

    processes: int  # that share the GPU
    trials: int  # fused in each process
    precision: str = "highest"  # of matrix products
    graphs: bool = False  # whether updates are CUDA graphs


WAYS = (
    *(Way(processes, 1) for processes in (1, 16)),
    *(Way(1, trials, graphs=graphs) for trials, graphs in ((48, False), (1, True), (48, True))),
    Way(1, 48, "high"),
)
DRY_WAYS = (Way(1, 1), Way(2, 1), Way(1, 2))  # on a CPU


def describe(error: RuntimeError) -> str:
    """Shorten an error to a table cell."""
    return f"FAILED: {' '.join(str(error).split())[:120]}".replace("|", "/")


def rates(sizes: Sizes, device: str, batch_size: int, way: Way) -> tuple[float, Summary]:
    """Time runs: seconds of the first, which loads kernels, and examples/s of the others."""
    data = sampled(drawn_data(sizes), batch_size, UPDATES)
    work = (sizes.width, batch_size, data, way, device)
    if way.processes == 1:
        times = [timed_runs(*work, Barrier(1))]
    else:
        context = multiprocessing.get_context("spawn")
        with context.Manager() as manager, ProcessPoolExecutor(way.processes, context) as pool:
            barrier = manager.Barrier(way.processes)
            runs = [pool.submit(timed_runs, *work, barrier) for _ in range(way.processes)]
            times = [run.result() for run in runs]
    starts, ends = torch.tensor(times, dtype=torch.float64).permute(2, 1, 0)  # [runs, processes]
    first, *others = (ends.amax(1) - starts.amin(1)).tolist()
    count = way.processes * way.trials * len(data.train)
    return first, summary(count / run for run in others)


def timed_runs(
    width: int, batch_size: int, data: TrialData, way: Way, device: str, barrier: Barrier
) -> list[tuple[float, float]]:
    """Return start and end of each run of one process; all processes start a run together."""
    configure_torch(1, way.precision, device)
    made = build_fusion(width, batch_size, data, way.trials, device, graphs=way.graphs)
    epoch = epoch_runner(made)
    times = []
    for _ in range(1 + RUNS):
        barrier.wait(BARRIER_SECONDS)
        start = time.perf_counter()
        epoch()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append((start, time.perf_counter()))
    return times


def peak(sizes: Sizes, batch_size: int, trials: int) -> float:
    """Return the peak GPU memory in MiB of training and evaluating trials."""
    data = drawn_data(sizes)
    rows = torch.cat(list(batches_by_length(data.train, batch_size)))
    train, dev = (data.train.take(rows[-number:]) for number in (batch_size, DEV_BATCH))
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    longest = replace(data, train=train, dev=dev)
    build_fusion(sizes.width, batch_size, longest, trials, "cuda").run_epoch()
    return torch.cuda.max_memory_reserved() / 2**20


def measure(sizes: Sizes, device: str, batch_size: int, way: Way) -> dict[str, Any]:
    """Return the measured columns of a row."""
    first, rate = rates(sizes, device, batch_size, way)
    known = device == "cuda" and way.processes == 1
    return {
        "first_run_seconds": first,
        "examples_per_second": rate,
        "mebibytes": peak(sizes, batch_size, way.trials) if known else None,
        "hours": THIRD / rate["median"] / 3600,
    }


def speed_rows(
    sizes: Sizes, device: str, batch_sizes: Sequence[int], ways: Sequence[Way]
) -> Iterator[dict[str, Any]]:
    """Yield one table row for each batch size and way."""
    end = time.perf_counter() + SECONDS
    names = ("first_run_seconds", "examples_per_second", "mebibytes", "hours")
    for batch_size, way in product(batch_sizes, ways):
        progress(f"batch {batch_size}: {way}")
        row: dict[str, Any] = {"batch_size": batch_size, **way._asdict()}
        row |= dict.fromkeys(names) | {"result": "ok", "then_set": ""}
        cpus = os.cpu_count() or 1
        try:
            if way.processes > cpus:
                row["result"] = f"left out, needs {way.processes} CPUs, has {cpus}"
            elif time.perf_counter() > end:
                row["result"] = f"left out, {SECONDS:.0f} s were over"
            else:
                row |= measure(sizes, device, batch_size, way)
        except RuntimeError as error:
            less = (
                f"trials_per_fusion: {way.trials // 2}" if way.trials > 1 else "gpus_per_trial: 0"
            )
            less = less if way.processes == 1 else "gpus_per_trial: 1"
            row |= {"result": describe(error), "then_set": f"cluster.{less}"}
        yield row


def grid_hours(rows: Sequence[dict[str, Any]]) -> float | None:
    """Return the hours of the paper's grid at the best rate of each batch size, None if unknown."""
    measured = [row for row in rows if row["hours"] is not None]
    hours = [[row["hours"] for row in measured if row["batch_size"] == n] for n in BATCH_SIZES]
    return sum(map(min, hours)) if all(hours) else None


def fusion_factor(rows: Sequence[dict[str, Any]]) -> float | None:
    """Return the smallest ratio over batch sizes of the best fused and the best other rate."""
    factors = []
    for size in {row["batch_size"] for row in rows}:
        ours = [r for r in rows if r["batch_size"] == size and r["precision"] == "highest"]
        rate = [(r["trials"] > 1, r["examples_per_second"]) for r in ours]
        fused, others = (
            [v["median"] for f, v in rate if v and f == flag] for flag in (True, False)
        )
        factors.append(max(fused, default=math.nan) / max(others, default=math.nan))
    return min(factors) if not any(map(math.isnan, factors)) else None
