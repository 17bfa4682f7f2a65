"""Check the numerics of this GPU, then measure speed and memory of trials on it.

    python -m bench.gpu

Print a page to paste into an issue (`make gpu-check`). Needs torch alone, and up to eight minutes.

A check trains the same few trials in two ways. Apart: the distance between their final parameters,
relative to the distance from the start; values up to `allowed` are rounding.
Processes share the GPU as trials with `cluster.gpus_per_trial` below 1 do; each needs a CPU.
Mebibytes: peak memory of a process, with the longest batch in training and the longest dev pairs.
Hours: estimate for the third of the paper's grid that has this batch size, at this rate, if all
trials were Adaptive Attention of width 200.
"""

import argparse
import functools
import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.utils import parameters_to_vector

from actmodels.data.trial_data import TrialData
from actmodels.fused import FusedTraining
from actmodels.static_updates import StaticTraining
from actmodels.training import Training
from bench.gpu_speed import (
    BATCH_SIZES,
    DRY_WAYS,
    WAYS,
    describe,
    fusion_factor,
    grid_hours,
    speed_rows,
)
from bench.timing import markdown_table, one_line, progress
from bench.work import PAPER, TINY, Sizes, drawn_data, trial
from tune.cluster.worker_process import configure_torch
from tune.trials.provenance import commit, machine

DRY_RUN = replace(TINY, pairs=100)  # on a CPU
CHECKED = Sizes(pairs=400, words=2_000, dimensions=300, width=200)
CHECKED_MODELS = ("adaptive_attention", "decomposable_attention")  # of the paper's grid
CHECKED_BATCH = 30  # pairs; the last batch of an epoch is smaller
# At larger rates Decomposable Attention is chaotic: rounding moves a quarter of the distance.
VARIED: tuple[dict[str, Any], ...] = (
    {"learning_rate": 0.01, "epsilon": 0.01, "ponder_weight": 0.001, "dropout": 0.1},
    {"learning_rate": 0.003, "epsilon": 0.2, "ponder_weight": 0.0001, "dropout": 0.2},
    {"learning_rate": 0.001, "epsilon": 0.01, "ponder_weight": 0.0005, "dropout": 0.0},
)


class Check(NamedTuple):
    """Two runs, their maximum distance, and the setting that avoids the first run.

    Runs are `single` trials, the same `again` or on the `cpu`, `fused` trials, these with `graphs`,
    and fused trials with the precision `high` or `medium`.
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
    "graphs as fused": Check("graphs", "fused", 1e-3, "cluster.gpu_graphs: false"),
    "TF32 as without": Check("high", "fused", 0.1, "cluster.matmul_precision: highest"),
    "bfloat16 as without": Check("medium", "fused", 0.5, "cluster.matmul_precision: high"),
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
    device = "cpu" if run == "cpu" else device
    configure_torch(1, run if run in ("high", "medium") else "highest", device)
    shared: dict[str, Any] = {"model": model, "unit_norm": True}
    configs = [trial(width, CHECKED_BATCH, **shared, **settings) for settings in VARIED]
    starts = [parameters(Training(config, data)) for config in configs]
    fusion: FusedTraining | None = None
    if run == "graphs":
        fusion = StaticTraining(configs, data, device, warm_ups=1)
    elif run in ("fused", "high", "medium"):
        fusion = FusedTraining(configs, data, device)
    members = fusion.members if fusion else [Training(c, data, device) for c in configs]
    for training in [fusion] if fusion else members:
        training.run_epoch()
    return [parameters(member) - start for member, start in zip(members, starts, strict=True)]


def parameters(training: Training) -> Tensor:
    """Return all parameters of a model [parameters], in double precision on the CPU."""
    return parameters_to_vector(training.model.parameters()).detach().cpu().double()


def main() -> None:
    """Print the page; exit with 1 if a check or a measurement failed."""
    parser = argparse.ArgumentParser(prog="python -m bench.gpu", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    about = "cpu: a dry run with tiny sizes (default: cuda)"
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help=about)
    device = parser.parse_args().device
    facts = machine() | {"commit": commit()}
    timed = PAPER
    batch_sizes: tuple[int, ...] = BATCH_SIZES
    ways = WAYS
    if device == "cpu":
        facts["note"] = "dry run on the CPU, the numbers mean nothing"
        timed = DRY_RUN
        batch_sizes, ways = BATCH_SIZES[:1], DRY_WAYS
    elif not torch.cuda.is_available():
        sys.exit(
            f"error: torch {torch.__version__} finds no CUDA device; run this where nvidia-smi "
            "lists one, or do a dry run: python -m bench.gpu --device cpu"
        )
    checks = list(check_rows(CHECKED, device))
    speeds = list(speed_rows(timed, device, batch_sizes, ways))
    facts["hours_of_the_grid_at_best"] = grid_hours(speeds)
    facts["fused_over_others_at_least"] = fusion_factor(speeds)
    settings = [row["then_set"] for row in (*checks, *speeds) if row["then_set"]]
    remedy = f"{len(settings)} failed; set {', '.join(dict.fromkeys(settings))}"
    facts["verdict"] = remedy if settings else "all is well"
    legend = (__doc__ or "").partition("minutes.\n")[2].strip()
    header = ("# GPU check", one_line(facts), legend)
    print(*header, markdown_table(checks), markdown_table(speeds), sep="\n\n")
    sys.exit(bool(settings))


if __name__ == "__main__":
    main()
