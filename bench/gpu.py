"""Checks of this GPU, then speed and memory of trials and packs on it, and hours of the grid.

    python -m bench.gpu

prints it as a page to paste into an issue: `make gpu-check`, torch alone, up to five minutes.
Apart: how far two ways of training end from each other, as a share of the way that they came.
Mebibytes: the most that is held, with the longest batch in training and the longest pairs of dev.
Hours: of that third of the paper's grid which has the batch size, at this rate, one trial or pack
at a time, all of it as if of the timed model, the paper's with width 200.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from actmodels.data.pairs import batches_by_length
from actmodels.evaluation import evaluate
from actmodels.packed.training import evaluate_pack
from bench import gpu_checks
from bench.gpu_checks import failure, set_precision
from bench.plan import FULL, QUICK, Plan, Say, data_of
from bench.tables import listed, table
from bench.timing import interleaved, summary, timed
from bench.ways import Pack, fixed_batches, single
from bench.work import PAPER, sampled_batches
from tune.provenance import commit, machine

UPDATES, RUNS = 12, 3  # updates in a run; runs that count
SECONDS = 200.0  # after which nothing more is measured
DEV_BATCH = 256  # of actmodels.evaluation
THIRD = (432 + 54) // 3 * 15 * 549_367  # of the paper's grid: trials, epochs, pairs
PRECISIONS = ("highest", "high")  # of matrix products


class Work:
    """A trial or a pack of the paper's size, to be measured one way after the other."""

    def __init__(self, plan: Plan, device: str, batch_size: int, trials: int) -> None:
        data, width, self.device = data_of(plan), plan.sizes.width, device
        self.batches = sampled_batches(data.train, batch_size, UPDATES)
        self.examples = trials * batch_size * UPDATES
        self.longest = torch.cat(list(batches_by_length(data.train, batch_size)))[-DEV_BATCH:]
        dev = data.train.take(self.longest)
        self.pack: Pack | None = None
        self.train: Callable[[], object]
        self.score: Callable[[], object]
        if trials == 1:
            one = single(width, data, self.batches, device)
            self.train = one.train_epoch
            self.score = partial(evaluate, one.model, dev, one.config.input)
        else:
            self.pack = Pack(width, data, self.batches, trials, device)
            one, self.train = self.pack.members[0], self.pack.run
            self.score = partial(evaluate_pack, self.pack.model, dev, one.config.input, trials)
        self.model = one.model

    def run(self) -> float:
        """Train on all batches, to the end of what the device does."""
        self.train()
        if self.device == "cuda":
            torch.cuda.synchronize()
        return self.examples

    def peak(self) -> float | None:
        """MiB that the device holds at most; None on the CPU."""
        if self.device == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        fixed_batches(self.model, [self.longest[-len(self.batches[0]) :]])
        self.train()
        fixed_batches(self.model, [torch.arange(len(self.longest))])
        self.score()
        fixed_batches(self.model, self.batches)
        return torch.cuda.max_memory_reserved() / 2**20 if self.device == "cuda" else None

    def measured(self, precision: str) -> dict[str, Any]:
        """Return speed, memory and hours; the first run, which loads kernels, counts alone."""
        set_precision(precision)
        first = timed(self.run).wall
        runs = interleaved({"": partial(timed, self.run)}, RUNS, warm_ups=0)[""]
        rate = summary(run.count / run.wall for run in runs)
        hours = THIRD / rate["median"] / 3600
        found = {"first_run_seconds": first, "examples_per_second": rate}
        return {**found, "mebibytes": self.peak(), "hours": hours}


def speeds(plan: Plan, device: str, say: Say) -> Iterator[dict[str, Any]]:
    """A row for each batch size, number of trials and precision."""
    end = time.perf_counter() + SECONDS
    figures = ("first_run_seconds", "examples_per_second", "mebibytes", "hours")
    for batch_size in reversed(plan.batch_sizes):
        for trials in (1, *plan.packs):
            work = None
            for precision in PRECISIONS:
                say(f"batch {batch_size}: {trials} trials, {precision}")
                point = {"batch_size": batch_size, "trials": trials, "precision": precision}
                row: dict[str, Any] = {**point, **dict.fromkeys(figures)}
                row["result"] = "ok"
                less = f"trials_per_pack: {trials // 2}" if trials > 1 else "gpus_per_trial: 0"
                try:
                    if time.perf_counter() < end:
                        work = work or Work(plan, device, batch_size, trials)
                        row |= work.measured(precision)
                    else:
                        row["result"] = f"left out, {SECONDS:.0f} s were over"
                except RuntimeError as error:
                    row["result"] = failure(error)
                failed = row["result"].startswith("FAILED")
                yield row | {"then_set": f"cluster.{less}" if failed else ""}


def measure(plan: Plan, say: Say, device: str | None = None) -> dict[str, Any]:
    """Rows of everything; without CUDA nothing, or in a dry run tiny sizes on the CPU."""
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    if device == "cpu" and not plan.dry_run:
        return {"note": "no GPU: not measured"}
    note = {"note": "no GPU: dry run on the CPU, no figure counts"} if device == "cpu" else {}
    sizes = gpu_checks.CHECKED if plan.sizes == PAPER else replace(plan.sizes, pairs=100)
    try:
        checks = list(gpu_checks.rows(sizes, device, say))
        speed = list(speeds(plan, device, say))
    finally:
        set_precision("highest")
    known = [row for row in speed if row["hours"] is not None]
    best = {row["batch_size"]: row["hours"] for row in sorted(known, key=lambda r: -r["hours"])}
    whole = sum(best.values()) if set(best) == set(plan.batch_sizes) else None
    return {**note, "checks": checks, "speed": speed, "hours_of_the_grid_at_best": whole}


def main() -> None:
    """Print the page; exit with 1 where something failed."""
    parser = argparse.ArgumentParser(prog="python -m bench.gpu", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    about = "cpu: tiny sizes, to try the page out (default: cuda)"
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help=about)
    device = parser.parse_args().device
    if device == "cuda" and not torch.cuda.is_available():
        sys.exit(
            f"error: torch {torch.__version__} finds no CUDA device; run this where nvidia-smi "
            "lists one, or try it out: python -m bench.gpu --device cpu"
        )
    start = time.perf_counter()

    def say(what: str) -> None:
        print(f"{time.perf_counter() - start:5.0f} s  {what}", file=sys.stderr, flush=True)

    if device == "cpu":
        torch.set_num_threads(1)
    found = measure(FULL if device == "cuda" else QUICK, say, device)
    rows = found.pop("checks"), found.pop("speed")
    bad = [row["then_set"] for row in (*rows[0], *rows[1]) if row["then_set"]]
    verdict = f"{len(bad)} failed; set {', '.join(dict.fromkeys(bad))}" if bad else "all is well"
    facts = machine() | {"commit": commit()} | found | {"verdict": verdict}
    legend = (__doc__ or "").partition("minutes.\n")[2]
    print("\n\n".join(["# GPU check", listed(facts), legend.strip(), *map(table, rows)]))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
