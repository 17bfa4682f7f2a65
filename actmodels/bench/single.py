"""Trials by themselves: the plain way of training against the product's own.

One process with one thread, the plain way with all of torch's threads, and as many processes at
once as the machine has processors, which is how a sweep runs on it. All train on the same pairs
from the same parameters, and so take the same steps.
"""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from actmodels.bench.plan import Plan, Say
from actmodels.bench.side_by_side import Variants, processes
from actmodels.bench.timing import Timed, interleaved, rates, ratios, timed
from actmodels.bench.trials import plain_twin, prepared
from actmodels.bench.workload import sampled_batches, shuffled_batches, trial
from actmodels.data.trial_data import TrialData

GOAL = 1.8  # ours against the plain way, all processors at work


class Both:
    """A trial to be trained both ways, again and again on the same pairs."""

    def __init__(self, plan: Plan, data: TrialData, batch_size: int) -> None:
        self.batches = sampled_batches(data.train, batch_size, plan.updates(batch_size))
        self.ours = prepared(trial(plan.sizes, batch_size), data, self.batches)
        self.plain, self.mixed = plain_twin(self.ours), shuffled_batches(self.batches)
        self.examples = sum(map(len, self.batches))

    def variants(self) -> Variants:
        """The two ways, counted in examples."""

        def train(work: Callable[[], object]) -> float:
            work()
            return self.examples

        return {
            "plain": lambda: timed(lambda: train(lambda: self.plain.run(self.mixed))),
            "ours": lambda: timed(lambda: train(self.ours.train_epoch)),
        }

    def facts(self) -> dict[str, float | int | None]:
        """What the trial and its pairs are like."""
        pairs, rows = self.ours.data.train, torch.cat(self.batches)
        summary = self.ours.train_epoch().figures()
        return {
            "batch_size": self.ours.config.training.batch_size,
            "examples": self.examples,
            "parameters": self.ours.parameters,
            "mean_steps": summary.mean_steps,
            "sd_steps": summary.sd_steps,
            "premise_tokens": float(pairs.premise_offsets.diff()[rows].double().mean()),
            "hypothesis_tokens": float(pairs.hypothesis_offsets.diff()[rows].double().mean()),
        }


def variants(plan: Plan, batch_size: int) -> Variants:
    """The two ways in a process of their own."""
    return Both(plan, plan.data(), batch_size).variants()


def with_threads(number: int, run: Callable[[], Timed]) -> Timed:
    """A run with another number of threads, one thread afterwards."""
    torch.set_num_threads(number)
    try:
        return run()
    finally:
        torch.set_num_threads(1)


def measure(plan: Plan, data: TrialData, say: Say) -> dict[str, Any]:
    """Rows of every variant, and how many times as fast ours is."""
    torch.set_num_threads(1)
    found: dict[str, Any] = {"goal": GOAL, "facts": [], "rows": [], "ratios": []}
    for batch_size in plan.batch_sizes:
        both = Both(plan, data, batch_size)
        found["facts"].append(both.facts())
        rows, compared = _batch_size(plan, both, batch_size, say)
        found["rows"] += rows
        found["ratios"] += compared
    return found


def _batch_size(
    plan: Plan, both: Both, batch_size: int, say: Say
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    here, cores = both.variants(), plan.processes or os.cpu_count() or 1
    with processes(cores, variants, plan, batch_size) as others:
        taken: dict[tuple[str, int, int], Callable[[], Timed]] = {
            ("plain", 1, 1): here["plain"],
            ("ours", 1, 1): here["ours"],
        }
        if cores > 1:
            taken["plain", cores, 1] = partial(others.run, "plain")
            taken["ours", cores, 1] = partial(others.run, "ours")
        if cores > 1 and plan.default_threads:
            taken["plain", 1, cores] = lambda: with_threads(cores, here["plain"])
        named = {" ".join(map(str, key)): run for key, run in taken.items()}
        runs = interleaved(named, plan.repeats, lambda what: say(f"batch {batch_size}: {what}"))
    by_key = dict(zip(taken, runs.values(), strict=True))
    rows = [
        {"way": way, "batch_size": batch_size, "processes": number, "threads": threads}
        | rates(by_key[way, number, threads])
        for way, number, threads in taken
    ]
    compared = [
        {"batch_size": batch_size, "processes": number}
        | ratios(by_key["ours", number, 1], by_key["plain", number, 1])
        for number in sorted({1, cores})
    ]
    return rows, compared
