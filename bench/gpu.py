"""Trials by themselves and in packs on a GPU, by precision of products, with and without graphs.

A trial by itself is trained as the product trains it, without CUDA graphs. What their capture
takes is in the first run. Hours of a grid: updates of all its packs times seconds per update.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from statistics import median
from typing import Any

import torch

from bench.plan import QUICK, Plan, Say, data_of
from bench.timing import interleaved, rates, timed
from bench.ways import Pack, single
from bench.work import sampled_batches

UPDATES = 16  # in a run
PRECISIONS = ("highest", "high", "medium")  # of products: float32, TF32, bfloat16 or else TF32


def measured(plan: Plan, device: str, batch_size: int, trials: int, graphs: bool) -> dict[str, Any]:
    """What training trials takes, all precisions of torch's being set by the caller."""
    data, width = data_of(plan), plan.sizes.width
    batches = sampled_batches(data.train, batch_size, UPDATES)
    examples = trials * sum(map(len, batches))
    train: Callable[[], object] = single(width, data, batches, device).train_epoch
    if trials > 1:
        train = Pack(width, data, batches, trials, device, graphs=graphs).run

    def work() -> float:
        train()
        if device == "cuda":
            torch.cuda.synchronize()
        return examples

    first = timed(work).wall  # loads kernels, captures graphs
    runs = interleaved({"": partial(timed, work)}, plan.repeats, warm_ups=0)[""]
    return {
        "first_run_seconds": first,
        "seconds_per_update": median(run.wall for run in runs) / len(batches),
        "peak_mebibytes": torch.cuda.max_memory_allocated() / 2**20 if device == "cuda" else None,
        **rates(runs),
    }


def measure(plan: Plan, say: Say) -> dict[str, Any]:
    """Rows of everything measured; without CUDA at tiny sizes, if at all."""
    real = torch.cuda.is_available()
    if not (real or plan.dry_run):
        return {"note": "no GPU: not measured"}
    if not real:
        plan = replace(QUICK, repeats=1)
        torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    axes = (plan.batch_sizes, (1, *plan.packs), PRECISIONS, (False, True))
    for batch_size, trials, precision, graphs in product(*axes):
        if trials == 1 and graphs:
            continue
        say(f"batch {batch_size}: {trials} trials, {precision}{', graphs' * graphs}")
        point = {"batch_size": batch_size, "trials": trials, "precision": precision}
        torch.set_float32_matmul_precision(precision)
        if real:
            torch.cuda.reset_peak_memory_stats()
        device = "cuda" if real else "cpu"
        rows.append(
            {**point, "graphs": graphs, **measured(plan, device, batch_size, trials, graphs)}
        )
    torch.set_float32_matmul_precision("highest")
    note = {} if real else {"note": "no GPU: dry run on the CPU, no figure counts"}
    return {**note, "rows": rows}
