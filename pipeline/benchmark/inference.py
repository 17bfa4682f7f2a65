"""Examples per second in answering, without training, one thread: by who takes a step.

Batches are by length, as the product evaluates. To the cap, every example takes all steps; until
all have halted, every example takes as many as the slowest of its batch; running, only those that
have not halted take one; fixed, each takes eight and halting is not asked.
"""

from functools import partial
from typing import Any

import torch

from actmodels.data.batching import collate
from actmodels.models.alternating import Loop
from pipeline.benchmark.plan import Plan, Say, data_of
from pipeline.benchmark.steps import alternating
from pipeline.benchmark.timing import interleaved, rates, timed
from pipeline.benchmark.ways import single
from pipeline.benchmark.work import sampled_batches

FIXED = 8  # steps of the paper's model without halting
WAYS: dict[str, tuple[Loop, int | None]] = {
    "to the cap": ("cap", None),
    "until all have halted": ("until_halted", None),
    "running": ("running", None),
    "fixed 8": ("cap", FIXED),
}


def measure(plan: Plan, say: Say) -> dict[str, Any]:
    """Rows of each way and batch size."""
    torch.set_num_threads(1)
    sizes = plan.inference_batches
    return {"rows": [row for size in sizes for row in rows(plan, size, say)]}


def rows(plan: Plan, batch_size: int, say: Say) -> list[dict[str, Any]]:
    """All ways at one batch size, taking turns."""
    data = data_of(plan)
    chosen = sampled_batches(data.train, batch_size, plan.updates(batch_size))
    model = alternating(single(plan.sizes.width, data, chosen).model)
    model.eval()
    steps = {}

    @torch.no_grad()
    def answer(way: str) -> float:
        loop, budget = WAYS[way]
        batches = (collate(data.train, index, null_token=False) for index in chosen)
        taken = torch.cat([model(batch, loop=loop, max_steps=budget).steps for batch in batches])
        steps[way] = float(taken.mean())
        return len(taken)

    runs = interleaved(
        {way: partial(timed, partial(answer, way)) for way in WAYS},
        plan.repeats,
        lambda what: say(f"batch {batch_size}: {what}"),
    )
    return [
        {"batch_size": batch_size, "way": way, "mean_steps": steps[way], **rates(runs[way])}
        for way in WAYS
    ]
