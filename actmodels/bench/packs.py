"""Packs of trials against the same trials one after another, in one process with one thread.

A pack of unlike trials has means of 2 to 10 steps, 6 in the mean whatever its size; a pack of like
trials has the mean of `single`.
"""

from collections.abc import Callable, Sequence
from typing import Any, get_args

import torch
from torch import Tensor

from actmodels.bench.packing import Kind, Pack, alone, pack_training
from actmodels.bench.plan import Plan, Say
from actmodels.bench.timing import Timed, interleaved, rates, ratios, timed
from actmodels.bench.workload import sampled_batches
from actmodels.data.trial_data import TrialData

ALONE = 8  # trials that stand for all where they run one after another
AFTER_ANOTHER = "one after another"


def measure(plan: Plan, data: TrialData, say: Say) -> dict[str, Any]:
    """Rows of each size of a pack, of like and of unlike trials."""
    torch.set_num_threads(1)
    rows = []
    for batch_size in plan.pack_batches:
        batches = sampled_batches(data.train, batch_size, plan.pack_updates)
        for kind in get_args(Kind):
            rows += _rows(plan, data, batches, kind, say)
    return {"rows": rows}


def one_after_another(
    plan: Plan, data: TrialData, batches: Sequence[Tensor], kind: Kind
) -> Callable[[], float]:
    """Trains some trials in turn; returns trials · examples."""
    number = min(ALONE, max(plan.packs))
    trainings = alone(pack_training(plan.sizes, data, batches, kind, number), batches)

    def work() -> float:
        for training in trainings:
            training.train_epoch()
        return number * sum(map(len, batches))

    return work


def _rows(
    plan: Plan, data: TrialData, batches: Sequence[Tensor], kind: Kind, say: Say
) -> list[dict[str, Any]]:
    batch_size = len(batches[0])
    works = {AFTER_ANOTHER: one_after_another(plan, data, batches, kind)}
    for trials in plan.packs:
        pack = Pack(pack_training(plan.sizes, data, batches, kind, trials), batches)
        works[str(trials)] = pack.run

    def run(work: Callable[[], float]) -> Callable[[], Timed]:
        return lambda: timed(work)

    runs = interleaved(
        {name: run(work) for name, work in works.items()},
        plan.pack_repeats,
        lambda what: say(f"batch {batch_size}, {kind} trials: {what}"),
    )
    return [
        {
            "kind": kind,
            "batch_size": batch_size,
            "trials": None if name == AFTER_ANOTHER else int(name),
            **rates(runs[name]),
            "against_alone": ratios(runs[name], runs[AFTER_ANOTHER]),
        }
        for name in works
    ]
