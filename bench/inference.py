"""Examples per second in answering, without training, one thread: by who takes a step.

Batches are by length, as the product evaluates. To the cap, every example takes all steps; until
all have halted, every example takes as many as the slowest of its batch; running, only those that
have not halted take one.
"""

from functools import partial
from typing import Any

import torch

from actmodels.data.pairs import collate
from actmodels.models.alternating import Loop
from bench.plan import Plan, Say, data_of
from bench.timing import interleaved, rates, timed
from bench.ways import single
from bench.work import sampled_batches

LOOPS: tuple[Loop, ...] = ("cap", "until_halted", "running")


def measure(plan: Plan, say: Say) -> dict[str, Any]:
    """Rows of each loop and batch size."""
    torch.set_num_threads(1)
    sizes = plan.inference_batches
    return {"rows": [row for size in sizes for row in rows(plan, size, say)]}


def rows(plan: Plan, batch_size: int, say: Say) -> list[dict[str, Any]]:
    """All loops at one batch size, taking turns."""
    data = data_of(plan)
    chosen = sampled_batches(data.train, batch_size, plan.updates(batch_size))
    model = single(plan.sizes.width, data, chosen).model.eval()

    @torch.no_grad()
    def answer(loop: Loop) -> float:
        batches = (collate(data.train, index, null_token=False) for index in chosen)
        taken = torch.cat([model(batch, loop=loop).steps for batch in batches])
        return len(taken)

    runs = interleaved(
        {loop: partial(timed, partial(answer, loop)) for loop in LOOPS},
        plan.repeats,
        lambda what: say(f"batch {batch_size}: {what}"),
    )
    return [{"batch_size": batch_size, "loop": loop, **rates(runs[loop])} for loop in LOOPS]
