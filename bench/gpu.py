"""Checks of this GPU, then speed and memory of trials and fusions on it, and hours of the grid.

    python -m bench.gpu

prints it as a page to paste into an issue: `make gpu-check`, torch alone, up to five minutes.
A check trains the same few trials two ways. Apart: the distance of their final parameters, as a
share of the distance from the start; 0 to `allowed` is rounding.
Mebibytes: the most that is held, with the longest batch in training and the longest pairs of dev.
Hours: of that third of the paper's grid which has the batch size, at this rate, one trial or fusion
at a time, all of it as if of the timed model, the paper's with width 200.
"""

import argparse
import functools
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import torch
from torch import Tensor

from actmodels.data.pairs import batches_by_length
from actmodels.data.trial_data import TrialData
from actmodels.fused.training import FusedTraining
from actmodels.training import Training
from bench.timing import Summary, listed, progress, seconds, summary, table
from bench.work import PAPER, TINY, Sizes, begun, drawn_data, epoch_of, sampled, trial
from tune.provenance import commit, machine

UPDATES, RUNS = 12, 3  # updates in a run; runs that count
SECONDS = 200.0  # after which nothing more is measured
DEV_BATCH = 256  # of actmodels.evaluation
THIRD = (432 + 54) // 3 * 15 * 549_367  # of the paper's grid: trials, epochs, pairs
PRECISIONS = ("highest", "high")  # of matrix products
BATCH_SIZES, TRIALS = (32, 16, 8), (1, 8, 48)
TRIED_OUT = replace(TINY, pairs=100)  # where there is no GPU
CHECKED = Sizes(pairs=400, words=2_000, dimensions=300, width=200)
CHECKED_MODELS = ("adaptive_attention", "decomposable_attention")  # of the paper's grid
CHECKED_BATCH = 30  # pairs; the last batch of an epoch is a smaller one
UNLIKE: tuple[dict[str, Any], ...] = (
    {"learning_rate": 0.01, "epsilon": 0.01, "ponder_weight": 0.001, "dropout": 0.1},
    {"learning_rate": 0.05, "epsilon": 0.2, "ponder_weight": 0.0001, "dropout": 0.2},
    {"learning_rate": 0.001, "epsilon": 0.01, "ponder_weight": 0.0005, "dropout": 0.0},
)


class Way(NamedTuple):
    """How trials are trained: alone, alone `again`, on the `cpu`, or fused."""

    how: str
    precision: str = "highest"


class Check(NamedTuple):
    """Two ways that may end so far `apart`, and the setting that does without the first."""

    way: Way
    against: Way
    allowed: float
    setting: str


# The least trusted come last: after an error CUDA may give nothing but errors. Rounding moves 1e-5
# of the way in 50 updates; TF32 and bfloat16 have 10 and 7 bits in place of 23.
ALONE, FUSED, HIGH = Way("alone"), Way("fused"), Way("fused", "high")
MEDIUM = Way("fused", "medium")
CHECKS = {
    "as on the CPU": Check(ALONE, Way("cpu"), 1e-3, "cluster.gpus_per_trial: 0"),
    "again, to the bit": Check(Way("again"), ALONE, 0.0, "cluster.gpus_per_trial: 0"),
    "fused as single": Check(FUSED, ALONE, 1e-3, "cluster.trials_per_fusion: 1"),
    "TF32 as without": Check(HIGH, FUSED, 0.1, "cluster.matmul_precision: highest"),
    "bfloat16 as without": Check(MEDIUM, FUSED, 0.3, "cluster.matmul_precision: high"),
}


def checked_rows(sizes: Sizes, device: str) -> Iterator[dict[str, Any]]:
    """A row for each check of each model."""
    data = drawn_data(sizes)
    for model in CHECKED_MODELS:
        run = functools.cache(partial(trained, model, sizes.width, data, device))
        for what, check in CHECKS.items():
            progress(f"{model}: {what}")
            row: dict[str, Any] = {"model": model, "check": what, "apart": None}
            row["allowed"] = check.allowed
            try:
                ends = zip(run(check.way), run(check.against), strict=True)
                shares = [float((one - other).norm() / other.norm()) for one, other in ends]
                if all(map(math.isfinite, shares)):
                    row["apart"] = max(shares)
                good = row["apart"] is not None and row["apart"] <= check.allowed
                row["result"] = "ok" if good else "FAILED"
            except RuntimeError as error:
                row["result"] = failure(error)
            yield row | {"then_set": "" if row["result"] == "ok" else check.setting}


def trained(model: str, width: int, data: TrialData, device: str, way: Way) -> list[Tensor]:
    """How far an epoch has moved the parameters of each trial [numbers]."""
    set_precision(way.precision)
    device = "cpu" if way.how == "cpu" else device
    configs = [trial(width, CHECKED_BATCH, model=model, **unlike) for unlike in UNLIKE]
    starts = [parameters(Training(config, data)) for config in configs]
    if way.how == "fused":
        fusion = FusedTraining(configs, data, device)
        fusion.run_epoch()
        members = fusion.members
    else:
        members = [Training(config, data, device) for config in configs]
        for member in members:
            member.run_epoch()
    return [parameters(each) - start for each, start in zip(members, starts, strict=True)]


def parameters(member: Training) -> Tensor:
    """End to end, on the CPU in double precision."""
    return torch.cat([p.detach().double().cpu().flatten() for p in member.model.parameters()])


def set_precision(name: str) -> None:
    """As a worker sets it (tune.trainable.configure_torch)."""
    torch.set_float32_matmul_precision(name)
    torch.backends.cudnn.allow_tf32 = name != "highest"


def failure(error: RuntimeError) -> str:
    """An error as a cell of a table."""
    return f"FAILED: {' '.join(str(error).split())[:120]}".replace("|", "/")


def rates(sizes: Sizes, device: str, batch_size: int, trials: int) -> tuple[float, Summary]:
    """Seconds of the first run, which loads kernels, and examples per second of the others."""
    data = sampled(drawn_data(sizes), batch_size, UPDATES)
    epoch = epoch_of(begun(sizes.width, batch_size, data, trials, device))

    def run() -> None:
        epoch()
        if device == "cuda":
            torch.cuda.synchronize()

    count = trials * len(data.train)
    return seconds(run), summary(count / seconds(run) for _ in range(RUNS))


def peak(sizes: Sizes, batch_size: int, trials: int) -> float:
    """MiB that the GPU holds at most while trials train and are evaluated."""
    data = drawn_data(sizes)
    rows = torch.cat(list(batches_by_length(data.train, batch_size)))
    train, dev = (data.train.take(rows[-number:]) for number in (batch_size, DEV_BATCH))
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    longest = replace(data, train=train, dev=dev)
    begun(sizes.width, batch_size, longest, trials, "cuda").run_epoch()
    return torch.cuda.max_memory_reserved() / 2**20


def measured(
    sizes: Sizes, device: str, batch_size: int, trials: int, precision: str
) -> dict[str, Any]:
    """Return the figures of a point."""
    set_precision(precision)
    first, rate = rates(sizes, device, batch_size, trials)
    return {
        "first_run_seconds": first,
        "examples_per_second": rate,
        "mebibytes": peak(sizes, batch_size, trials) if device == "cuda" else None,
        "hours": THIRD / rate["median"] / 3600,
    }


def speeds(
    sizes: Sizes, device: str, batch_sizes: Sequence[int] = BATCH_SIZES
) -> Iterator[dict[str, Any]]:
    """A row for each batch size, number of trials and precision."""
    end = time.perf_counter() + SECONDS
    figures = ("first_run_seconds", "examples_per_second", "mebibytes", "hours")
    for point in product(batch_sizes, TRIALS, PRECISIONS):
        batch_size, trials, precision = point
        progress(f"batch {batch_size}: {trials} trials, {precision}")
        row: dict[str, Any] = dict(zip(("batch_size", "trials", "precision"), point, strict=True))
        row |= dict.fromkeys(figures) | {"result": "ok", "then_set": ""}
        try:
            if time.perf_counter() < end:
                row |= measured(sizes, device, *point)
            else:
                row["result"] = f"left out, {SECONDS:.0f} s were over"
        except RuntimeError as error:
            less = f"trials_per_fusion: {trials // 2}" if trials > 1 else "gpus_per_trial: 0"
            row |= {"result": failure(error), "then_set": f"cluster.{less}"}
        yield row


def hours_of_the_grid(speed: list[dict[str, Any]]) -> float | None:
    """Hours at the best rate of each batch size; None where one was not measured."""
    found = [(row["batch_size"], row["hours"]) for row in speed if row["hours"] is not None]
    hours = [[of for size, of in found if size == own] for own in BATCH_SIZES]
    return sum(map(min, hours)) if all(hours) else None


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
    facts = machine() | {"commit": commit()}
    checked, timed = CHECKED, PAPER
    batch_sizes = BATCH_SIZES if device == "cuda" else BATCH_SIZES[-1:]
    if device == "cpu":
        torch.set_num_threads(1)
        facts["note"] = "dry run on the CPU, no figure counts"
        checked = timed = TRIED_OUT
    checks = list(checked_rows(checked, device))
    speed = list(speeds(timed, device, batch_sizes))
    facts["hours_of_the_grid_at_best"] = hours_of_the_grid(speed)
    bad = [row["then_set"] for row in (*checks, *speed) if row["then_set"]]
    verdict = f"{len(bad)} failed; set {', '.join(dict.fromkeys(bad))}" if bad else "all is well"
    legend = (__doc__ or "").partition("minutes.\n")[2].strip()
    header = ("# GPU check", listed(facts | {"verdict": verdict}), legend)
    print(*header, table(checks), table(speed), sep="\n\n")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
