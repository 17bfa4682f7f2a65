"""Whether trials on a GPU, in packs and in other precisions are correct.

A check trains the same few trials two ways. `apart` is the distance of their final parameters as a
share of the distance from the start; 0 to `allowed` is rounding.
"""

import functools
import math
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from actmodels.data.trial_data import TrialData
from actmodels.packed.training import PackTraining
from actmodels.training import Training
from bench.timing import progress
from bench.work import Sizes, drawn_data, trial

CHECKED = Sizes(pairs=400, words=2_000, dimensions=300, width=200)
MODELS = ("adaptive_attention", "decomposable_attention")  # of the paper's grid
BATCH = 30  # pairs; the last batch of an epoch is a smaller one
UNLIKE: tuple[dict[str, Any], ...] = (
    {"learning_rate": 0.01, "epsilon": 0.01, "ponder_weight": 0.001, "dropout": 0.1},
    {"learning_rate": 0.05, "epsilon": 0.2, "ponder_weight": 0.0001, "dropout": 0.2},
    {"learning_rate": 0.001, "epsilon": 0.01, "ponder_weight": 0.0005, "dropout": 0.0},
)


class Way(NamedTuple):
    """How trials are trained: alone, alone `again`, on the `cpu`, or packed."""

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
ALONE, PACKED, HIGH = Way("alone"), Way("packed"), Way("packed", "high")
MEDIUM = Way("packed", "medium")
CHECKS = {
    "as on the CPU": Check(ALONE, Way("cpu"), 1e-3, "cluster.gpus_per_trial: 0"),
    "again, to the bit": Check(Way("again"), ALONE, 0.0, "cluster.gpus_per_trial: 0"),
    "packed as single": Check(PACKED, ALONE, 1e-3, "cluster.trials_per_pack: 1"),
    "TF32 as without": Check(HIGH, PACKED, 0.1, "cluster.matmul_precision: highest"),
    "bfloat16 as without": Check(MEDIUM, PACKED, 0.3, "cluster.matmul_precision: high"),
}


def rows(sizes: Sizes, device: str) -> Iterator[dict[str, Any]]:
    """A row for each check of each model."""
    data = drawn_data(sizes)
    for model in MODELS:
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
    configs = [trial(width, BATCH, model=model, **unlike) for unlike in UNLIKE]
    starts = [parameters(Training(config, data)) for config in configs]
    if way.how == "packed":
        pack = PackTraining(configs, data, device)
        pack.run_epoch()
        members = pack.members
    else:
        members = [Training(config, data, device) for config in configs]
        for member in members:
            member.run_epoch()
    return [parameters(each) - start for each, start in zip(members, starts, strict=True)]


def parameters(member: Training) -> Tensor:
    """End to end, on the CPU in double precision."""
    return torch.cat([p.detach().double().cpu().flatten() for p in member.model.parameters()])


def set_precision(name: str) -> None:
    """As a worker sets it (tune.trainable.prepare)."""
    torch.set_float32_matmul_precision(name)
    torch.backends.cudnn.allow_tf32 = name != "highest"


def failure(error: RuntimeError) -> str:
    """An error as a cell of a table."""
    return f"FAILED: {' '.join(str(error).split())[:120]}".replace("|", "/")
