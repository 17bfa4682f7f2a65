"""Examples per second in training: the plain way, the product's own, and packs of trials.

One thread each. In this process, and in as many at once as the machine has processors, which is
how a sweep runs on it. All train on the same pairs from the same parameters, and so take the same
steps; a pack on fewer, which stand for them, and its trials take as many in the mean. The useful
share is that of the arithmetic: of all operations of matrix products that are executed, those that
the examples would need one by one, without padding and without steps after their own end.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from actmodels.modules.dropout import Dropout
from bench.plan import Plan, Say, data_of
from bench.processes import AllAtOnce
from bench.timing import Timed, interleaved, rates, ratios, timed
from bench.ways import Pack, plain_twin, single
from bench.work import sampled_batches, shuffled_batches

WAYS = ("plain", "ours")
COUNTED = 64  # examples whose operations are counted, which takes a tenth of a second for each


class Both:
    """A trial to be trained both ways, again and again on the same pairs."""

    def __init__(self, plan: Plan, batch_size: int) -> None:
        data = data_of(plan)
        self.batches = sampled_batches(data.train, batch_size, plan.updates(batch_size))
        self.ours = single(plan.sizes.width, data, self.batches)
        self.plain, self.mixed = plain_twin(self.ours), shuffled_batches(self.batches)
        self.examples = sum(map(len, self.batches))

    def train(self, way: str) -> float:
        """An epoch; returns the number of examples."""
        if way == "plain":
            self.plain.run(self.mixed)
        else:
            self.ours.train_epoch()
        return self.examples

    def __call__(self, way: str) -> Timed:
        """The same, timed."""
        return timed(partial(self.train, way))

    def useful_shares(self) -> dict[str, float]:
        """By way; see the module. From here on nothing is dropped: all take the same steps."""
        for module in (*self.plain.model.modules(), *self.ours.model.modules()):
            if isinstance(module, Dropout):
                module.rate = 0.0
        alone = torch.cat(self.batches).split(1)
        useful = executed_flops(lambda: self.plain.run(alone))
        return {way: useful / executed_flops(partial(self.train, way)) for way in WAYS}


def executed_flops(work: Callable[[], object]) -> int:
    """Operations of all matrix products while `work` runs, backward passes as well."""
    with FlopCounterMode(display=False) as counter:
        work()
    return int(counter.get_total_flops())


def measure(plan: Plan, say: Say) -> dict[str, Any]:
    """Rows of every variant, beside what is trained."""
    torch.set_num_threads(1)
    found: dict[str, Any] = {"rows": [], "trials": []}
    for batch_size in plan.batch_sizes:
        both = Both(plan, batch_size)
        found["rows"] += rows(plan, both, batch_size, say)
        steps = both.ours.train_epoch().figures().mean_steps
        trial = {"batch_size": batch_size, "parameters": both.ours.parameters, "mean_steps": steps}
        found["trials"].append(trial)
    return found


def rows(plan: Plan, both: Both, batch_size: int, say: Say) -> list[dict[str, Any]]:
    """All ways at one batch size, taking turns; named by way, trials and processes."""
    data, cores = data_of(plan), plan.processes or os.cpu_count() or 1
    taken = {(way, 1, 1): partial(both, way) for way in WAYS}
    for trials in plan.packs:
        batches = sampled_batches(data.train, batch_size, plan.updates(batch_size, trials))
        pack = Pack(plan.sizes.width, data, batches, trials)
        taken["packed", trials, 1] = partial(timed, pack.run)
    with AllAtOnce(cores, Both, plan, batch_size) as everywhere:
        taken |= {(way, 1, cores): partial(everywhere.run, way) for way in WAYS}
        runs = interleaved(taken, plan.repeats, lambda what: say(f"batch {batch_size}: {what}"))
    shares = Both(replace(plan, examples=COUNTED), batch_size).useful_shares()
    return [
        {"batch_size": batch_size, "way": way, "trials": trials, "processes": number}
        | rates(found)
        | ratios(found, runs["plain", 1, number])
        | {"useful_share": shares.get(way)}
        for (way, trials, number), found in runs.items()
    ]
