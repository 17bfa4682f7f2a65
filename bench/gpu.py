"""Check the numerics of this GPU, then measure speed and memory of single and fused trials.

    python -m bench.gpu

Print a page to paste into an issue (`make gpu-check`). Needs torch alone, and up to five minutes.

A check trains the same few trials in two ways. Apart: the distance between their final parameters,
relative to the distance from the start; values up to `allowed` are rounding.
Mebibytes: peak memory, with the longest batch in training and the longest dev pairs.
Hours: estimate for the third of the paper's grid that has this batch size, one trial or fusion at a
time, if all trials were Adaptive Attention of width 200.
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
from torch.nn.utils import parameters_to_vector

from actmodels.data.pairs import batches_by_length
from actmodels.data.trial_data import TrialData
from actmodels.fused.training import FusedTraining
from actmodels.training import Training
from bench.timing import Summary, markdown_table, one_line, progress, seconds, summary
from bench.work import PAPER, TINY, Sizes, build_fusion, drawn_data, epoch_runner, sampled, trial
from tune.provenance import commit, machine

UPDATES, RUNS = 12, 3  # updates of a run; timed runs
SECONDS = 200.0  # budget of the speed table
DEV_BATCH = 256  # of actmodels.evaluation
THIRD = (432 + 54) // 3 * 15 * 549_367  # of the paper's grid: trials · epochs · pairs
PRECISIONS = ("highest", "high")  # of matrix products
BATCH_SIZES, TRIALS = (32, 16, 8), (1, 8, 48)
DRY_RUN = replace(TINY, pairs=100)  # on a CPU
CHECKED = Sizes(pairs=400, words=2_000, dimensions=300, width=200)
CHECKED_MODELS = ("adaptive_attention", "decomposable_attention")  # of the paper's grid
CHECKED_BATCH = 30  # pairs; the last batch of an epoch is smaller
VARIED: tuple[dict[str, Any], ...] = (
    {"learning_rate": 0.01, "epsilon": 0.01, "ponder_weight": 0.001, "dropout": 0.1},
    {"learning_rate": 0.05, "epsilon": 0.2, "ponder_weight": 0.0001, "dropout": 0.2},
    {"learning_rate": 0.001, "epsilon": 0.01, "ponder_weight": 0.0005, "dropout": 0.0},
)


class Check(NamedTuple):
    """Two runs, their maximum distance, and the setting that avoids the first run.

    Runs are `single` trials, the same `again` or on the `cpu`, `fused` trials, and fused trials
    with the precision `high` or `medium`.
    """

    run: str
    reference: str
    allowed: float
    setting: str


# The least trusted last: after an error CUDA may return nothing but errors. Rounding moves 1e-5 of
# the distance in 50 updates; TF32 and bfloat16 have 10 and 7 bits of mantissa in place of 23.
CHECKS = {
    "as on the CPU": Check("single", "cpu", 1e-3, "cluster.gpus_per_trial: 0"),
    "again, to the bit": Check("again", "single", 0.0, "cluster.gpus_per_trial: 0"),
    "fused as single": Check("fused", "single", 1e-3, "cluster.trials_per_fusion: 1"),
    "TF32 as without": Check("high", "fused", 0.1, "cluster.matmul_precision: highest"),
    "bfloat16 as without": Check("medium", "fused", 0.3, "cluster.matmul_precision: high"),
}


def check_rows(sizes: Sizes, device: str) -> Iterator[dict[str, Any]]:
    """Yield one table row for each check of each model."""
    data = drawn_data(sizes)
    for model in CHECKED_MODELS:
        train = functools.cache(partial(updates_of, model, sizes.width, data, device))
        for name, check in CHECKS.items():
            progress(f"{model}: {name}")
            apart, result = math.nan, "FAILED"
            try:
                pairs = zip(train(check.run), train(check.reference), strict=True)
                apart = float(torch.stack([(a - b).norm() / b.norm() for a, b in pairs]).max())
                result = "ok" if apart <= check.allowed else result
            except RuntimeError as error:
                result = describe(error)
            row = {"model": model, "check": name, "apart": apart if math.isfinite(apart) else None}
            setting = "" if result == "ok" else check.setting
            yield row | {"allowed": check.allowed, "result": result, "then_set": setting}


def updates_of(model: str, width: int, data: TrialData, device: str, run: str) -> list[Tensor]:
    """Train each trial for one epoch; return the changes of its parameters [parameters]."""
    set_precision(run if run in ("high", "medium") else "highest")
    device = "cpu" if run == "cpu" else device
    configs = [trial(width, CHECKED_BATCH, model=model, **settings) for settings in VARIED]
    starts = [parameters(Training(config, data)) for config in configs]
    if run in ("fused", "high", "medium"):
        fusion = FusedTraining(configs, data, device)
        fusion.run_epoch()
        members = fusion.members
    else:
        members = [Training(config, data, device) for config in configs]
        for member in members:
            member.run_epoch()
    return [parameters(member) - start for member, start in zip(members, starts, strict=True)]


def parameters(training: Training) -> Tensor:
    """Return all parameters of a model [parameters], in double precision on the CPU."""
    return parameters_to_vector(training.model.parameters()).detach().cpu().double()


def set_precision(name: str) -> None:
    """Set the precision of matrix products as a worker does (tune.trainable.configure_torch)."""
    torch.set_float32_matmul_precision(name)
    torch.backends.cudnn.allow_tf32 = name != "highest"


def describe(error: RuntimeError) -> str:
    """Shorten an error to a table cell."""
    return f"FAILED: {' '.join(str(error).split())[:120]}".replace("|", "/")


def rates(sizes: Sizes, device: str, batch_size: int, trials: int) -> tuple[float, Summary]:
    """Time runs: seconds of the first, which loads kernels, and examples/s of the others."""
    data = sampled(drawn_data(sizes), batch_size, UPDATES)
    epoch = epoch_runner(build_fusion(sizes.width, batch_size, data, trials, device))

    def run() -> None:
        epoch()
        if device == "cuda":
            torch.cuda.synchronize()

    count = trials * len(data.train)
    return seconds(run), summary(count / seconds(run) for _ in range(RUNS))


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


def measure(
    sizes: Sizes, device: str, batch_size: int, trials: int, precision: str
) -> dict[str, Any]:
    """Return the measured columns of a row."""
    set_precision(precision)
    first, rate = rates(sizes, device, batch_size, trials)
    return {
        "first_run_seconds": first,
        "examples_per_second": rate,
        "mebibytes": peak(sizes, batch_size, trials) if device == "cuda" else None,
        "hours": THIRD / rate["median"] / 3600,
    }


def speed_rows(
    sizes: Sizes, device: str, batch_sizes: Sequence[int] = BATCH_SIZES
) -> Iterator[dict[str, Any]]:
    """Yield one table row for each batch size, number of trials and precision."""
    end = time.perf_counter() + SECONDS
    names = ("first_run_seconds", "examples_per_second", "mebibytes", "hours")
    for batch_size, trials, precision in product(batch_sizes, TRIALS, PRECISIONS):
        progress(f"batch {batch_size}: {trials} trials, {precision}")
        row: dict[str, Any] = {"batch_size": batch_size, "trials": trials, "precision": precision}
        row |= dict.fromkeys(names) | {"result": "ok", "then_set": ""}
        try:
            if time.perf_counter() < end:
                row |= measure(sizes, device, batch_size, trials, precision)
            else:
                row["result"] = f"left out, {SECONDS:.0f} s were over"
        except RuntimeError as error:
            less = f"trials_per_fusion: {trials // 2}" if trials > 1 else "gpus_per_trial: 0"
            row |= {"result": describe(error), "then_set": f"cluster.{less}"}
        yield row


def grid_hours(rows: Sequence[dict[str, Any]]) -> float | None:
    """Return the hours of the paper's grid at the best rate of each batch size, None if unknown."""
    measured = [row for row in rows if row["hours"] is not None]
    hours = [[row["hours"] for row in measured if row["batch_size"] == n] for n in BATCH_SIZES]
    return sum(map(min, hours)) if all(hours) else None


def main() -> None:
    """Print the page; exit with 1 if a check or a measurement failed."""
    parser = argparse.ArgumentParser(prog="python -m bench.gpu", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    about = "cpu: a dry run with tiny sizes (default: cuda)"
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help=about)
    device = parser.parse_args().device
    facts = machine() | {"commit": commit()}
    checked, timed = CHECKED, PAPER
    batch_sizes = BATCH_SIZES if device == "cuda" else BATCH_SIZES[-1:]
    if device == "cpu":
        torch.set_num_threads(1)
        facts["note"] = "dry run on the CPU, the numbers mean nothing"
        checked = timed = DRY_RUN
    elif not torch.cuda.is_available():
        sys.exit(
            f"error: torch {torch.__version__} finds no CUDA device; run this where nvidia-smi "
            "lists one, or do a dry run: python -m bench.gpu --device cpu"
        )
    checks = list(check_rows(checked, device))
    speeds = list(speed_rows(timed, device, batch_sizes))
    facts["hours_of_the_grid_at_best"] = grid_hours(speeds)
    settings = [row["then_set"] for row in (*checks, *speeds) if row["then_set"]]
    remedy = f"{len(settings)} failed; set {', '.join(dict.fromkeys(settings))}"
    facts["verdict"] = remedy if settings else "all is well"
    legend = (__doc__ or "").partition("minutes.\n")[2].strip()
    header = ("# GPU check", one_line(facts), legend)
    print(*header, markdown_table(checks), markdown_table(speeds), sep="\n\n")
    sys.exit(bool(settings))


if __name__ == "__main__":
    main()
