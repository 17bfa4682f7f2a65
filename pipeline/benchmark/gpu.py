"""Packs on a GPU, and the hours that the paper's grid would take on it.

The grid has 432 trials of 15 epochs on SNLI: 3 widths and 3 batch sizes give 9 shapes, each of them
a pack of 48 trials (4 ponder weights, 3 learning rates, 2 dropouts, 2 epsilons). With s(w, b)
seconds for an update of such a pack:

    hours = sum over w, b of 15 · ceil(549,367 / b) · s(w, b) / 3600

and for trials one after another 48 times as much with the s(w, b) of a trial alone, which is
measured at the smallest width only and taken for all. Evaluation is left out; so is what the
capture of CUDA graphs takes, which is given by itself.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from actmodels.bench.packing import Pack, alone, pack_training
from actmodels.bench.plan import QUICK, Plan, Say
from actmodels.bench.timing import Timed, interleaved, rates, timed
from actmodels.bench.workload import Sizes, drawn_data, sampled_batches
from actmodels.data.trial_data import TrialData
from actmodels.packed.batches import pack_batches
from actmodels.packed.graphs import GraphedUpdates
from actmodels.packed.updates import EagerUpdates, Updates

NO_GPU = "no GPU: dry run on the CPU, no figure counts"
SKIPPED = "no GPU: not measured"
TRIALS, EPOCHS, PAIRS, PACK = 432, 15, 549_367, 48
WIDTHS = (200, 256, 300)  # paper table 2
PRECISIONS = {  # of float32 matrix products (torch.set_float32_matmul_precision)
    "highest": "float32",
    "high": "TF32",
    "medium": "bfloat16 where torch has such a kernel, else TF32",
}


@dataclass(frozen=True)
class Point:
    """One thing to measure; trials = 1 is a trial by itself, as the product trains it."""

    width: int
    batch_size: int
    trials: int
    precision: str
    graphs: bool

    @property
    def name(self) -> str:
        """One line."""
        launched = "graphs" if self.graphs else "eager"
        where = f"width {self.width}, batch {self.batch_size}"
        return f"{where}, {self.trials} trials, {self.precision}, {launched}"


def settle() -> None:
    """Wait for the GPU."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def points(plan: Plan) -> list[Point]:
    """All sizes of a pack at the smallest width, and the largest pack at every width."""
    widths = WIDTHS if plan.sizes.width == WIDTHS[0] else (plan.sizes.width,)
    largest = max(plan.gpu_packs)
    return [
        Point(width, batch_size, trials, precision, graphs)
        for batch_size in plan.batch_sizes
        for width in widths
        for trials in plan.gpu_packs
        if width == widths[0] or trials == largest
        for precision in PRECISIONS
        for graphs in (False, True)
        if trials > 1 or not graphs
    ]


class GpuPack(Pack):
    """A pack whose captured graphs outlive a run, as they outlive an update in an epoch."""

    def __init__(self, *arguments: Any, graphs: bool) -> None:
        super().__init__(*arguments)
        self.updates: Updates
        trials, rows = len(self.members), len(self.batches[0])
        if graphs:
            self.updates = GraphedUpdates(self.model, self.optimizer, trials, rows)
        else:
            self.updates = EagerUpdates(self.model, self.optimizer, trials)
        self.model.train()

    def run(self) -> float:
        """Train on all batches; returns trials · examples."""
        trials, device = len(self.members), self.training.device
        orders = [iter(self.batches) for _ in self.members]
        seeds = [member.epoch_generator.initial_seed() for member in self.members]
        data = self.training.data.train
        batches = pack_batches(data, orders, seeds, null_token=False, device=device)
        for number, batch in enumerate(batches):
            keys = torch.full((trials,), number, dtype=torch.int32, device=device)
            self.updates.run(batch, keys)
        return trials * sum(map(len, self.batches))


def work_of(
    point: Point, sizes: Sizes, data: TrialData, batches: Sequence[Tensor], device: str
) -> Callable[[], float]:
    """What trains the point's trials on all batches; returns trials · examples."""
    own = replace(sizes, width=point.width, gate_size=point.width)
    pack = pack_training(own, data, batches, "unlike", point.trials, device)
    if point.trials > 1:
        return GpuPack(pack, batches, graphs=point.graphs).run
    (training,) = alone(pack, batches)

    def work() -> float:
        training.train_epoch()
        return sum(map(len, batches))

    return work


def kernels(work: Callable[[], object]) -> int | None:
    """How many kernels a GPU runs for it; None without a GPU."""
    if not torch.cuda.is_available():
        return None
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        work()
        settle()
    on_gpu = [e for e in profiler.events() or [] if e.device_type.name == "CUDA"]
    return sum(not event.name.startswith(("Memcpy", "Memset")) for event in on_gpu)


def measured(point: Point, plan: Plan, data: TrialData, device: str, say: Say) -> dict[str, Any]:
    """One row."""
    torch.set_float32_matmul_precision(point.precision)
    try:
        batches = sampled_batches(data.train, point.batch_size, plan.gpu_updates)
        work = work_of(point, plan.sizes, data, batches, device)
        start = time.perf_counter()
        work()  # loads kernels, captures graphs
        settle()
        first = time.perf_counter() - start

        def run() -> Timed:
            return timed(work, settle)

        runs = interleaved({"": run}, plan.repeats, lambda what: say(f"{point.name}: {what}"))[""]
        launched = kernels(work)
    finally:
        torch.set_float32_matmul_precision("highest")
    per_update = sorted(run.wall / len(batches) for run in runs)[len(runs) // 2]
    return vars(point) | {
        "first_run_seconds": first,
        "seconds_per_update": per_update,
        "kernels_per_update": None if launched is None else launched / len(batches),
        "peak_mebibytes": torch.cuda.max_memory_allocated() / 2**20 if launched else None,
        **rates(runs),
    }


def projected(rows: Sequence[dict[str, Any]], trials: int, **chosen: Any) -> float | None:
    """Hours of the paper's grid in packs of `trials` by the formula above; None if rows lack.

    Args:
        chosen: precision and graphs of the rows to take.
    """
    seconds = {
        (row["width"], row["batch_size"]): row["seconds_per_update"]
        for row in rows
        if row["trials"] == trials and all(row[name] == value for name, value in chosen.items())
    }
    total = 0.0
    for batch_size in (8, 16, 32):
        for width in WIDTHS:
            at = (width, batch_size) if trials == PACK else (WIDTHS[0], batch_size)
            if at not in seconds:
                return None
            total += EPOCHS * -(-PAIRS // batch_size) * seconds[at] * (PACK / trials)
    return total / 3600


def measure(plan: Plan, data: TrialData, say: Say) -> dict[str, Any]:
    """Rows of each point and the projected hours; without CUDA at tiny sizes, if at all."""
    real = torch.cuda.is_available()
    if not real:
        if not plan.dry_run:
            return {"note": SKIPPED, "rows": [], "grid_hours": []}
        plan, data = replace(QUICK, repeats=1), drawn_data(QUICK.sizes)
        torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    for point in points(plan):
        if real:
            torch.cuda.reset_peak_memory_stats()
        rows.append(measured(point, plan, data, "cuda" if real else "cpu", say))
    hours = [
        {"trials": trials, "precision": precision, "graphs": graphs, "hours": found}
        for trials in plan.gpu_packs
        for precision in PRECISIONS
        for graphs in (False, True)
        if (found := projected(rows, trials, precision=precision, graphs=graphs)) is not None
    ]
    return {"note": None if real else NO_GPU, "rows": rows, "grid_hours": hours}
