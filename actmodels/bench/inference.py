"""Answering without training: who takes a step, and what that costs; one thread.

Batches are by length, as the product evaluates. To the cap, every example takes all steps; until
all have halted, every example takes as many as the slowest of its batch; running, only those that
have not halted take one; fixed, each takes eight and halting is not asked.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from actmodels.bench.plan import Plan, Say
from actmodels.bench.steps import alternating, set_steps, unrolled
from actmodels.bench.timing import Timed, interleaved, rates, timed
from actmodels.bench.trials import calibration_batches
from actmodels.bench.workload import sampled_batches, trial
from actmodels.data.batching import collate
from actmodels.data.trial_data import TrialData
from actmodels.models.alternating import Loop
from actmodels.training import Training

STEPS = ((5.1, 1.4), (6.7, 4.8))  # mean and standard deviation of N: the prototype's two
FIXED = 8  # steps of the paper's model without halting
WAYS: dict[str, tuple[Loop, int | None]] = {
    "to the cap": ("cap", None),
    "until all have halted": ("until_halted", None),
    "fixed 8": ("cap", FIXED),
    "running": ("running", None),
}


def measure(plan: Plan, data: TrialData, say: Say) -> dict[str, Any]:
    """Rows of each way, batch size and distribution of steps."""
    torch.set_num_threads(1)
    rows = []
    for batch_size in plan.inference_batches:
        for steps in STEPS:
            rows += _rows(plan, data, batch_size, steps, say)
    return {"rows": rows}


class StepCounter:
    """Counts the examples that take a step of inference, all steps together."""

    def __init__(self, step: torch.nn.Module) -> None:
        self.rows = 0
        self.handle = step.register_forward_hook(self._add)

    def _add(self, step: object, inputs: object, state: Tensor) -> None:
        self.rows += state.shape[:-1].numel()


def _rows(
    plan: Plan, data: TrialData, batch_size: int, steps: tuple[float, float], say: Say
) -> list[dict[str, Any]]:
    count = max(2, plan.inference_examples // batch_size)
    chosen = sampled_batches(data.train, batch_size, count)
    config = trial(plan.sizes, batch_size)
    model = alternating(Training(config, data).model)
    model.eval()
    set_steps(model, unrolled(model, calibration_batches(config, data, chosen)), *steps)
    examples = sum(map(len, chosen))

    @torch.no_grad()
    def answer(way: str) -> float:
        loop, budget = WAYS[way]
        taken = []
        for index in chosen:
            batch = collate(data.train, index, null_token=False)
            taken.append(model(batch, loop=loop, max_steps=budget).steps)
        mean[way] = float(torch.cat(taken).mean())
        return examples

    mean: dict[str, float] = {}
    evaluations = {}
    for way in WAYS:
        counter = StepCounter(model.step)
        answer(way)
        counter.handle.remove()
        evaluations[way] = counter.rows / examples

    def run(way: str) -> Callable[[], Timed]:
        return lambda: timed(lambda: answer(way))

    runs = interleaved(
        {way: run(way) for way in WAYS},
        plan.repeats,
        lambda what: say(f"batch {batch_size}, {steps[0]} steps: {what}"),
    )
    return [
        {
            "way": way,
            "batch_size": batch_size,
            "steps_mean": mean["running"],
            "steps_sd_wanted": steps[1],
            "step_evaluations": evaluations[way],
            **rates(runs[way]),
        }
        for way in WAYS
    ]
