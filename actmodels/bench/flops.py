"""How much of the arithmetic that is executed is useful, and what share of the machine's it is.

Measured with one thread: the rate of single-precision matrix products (the peak), the products
that each way of training executes, counted as they run, and those that the examples need
(actmodels.bench.useful). The rates take turns, so the shares are of one and the same machine.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from actmodels.bench.plan import Plan, Say
from actmodels.bench.timing import Timed, interleaved, rates, ratios, timed
from actmodels.bench.trials import plain_twin, prepared
from actmodels.bench.useful import Shape, useful_flops
from actmodels.bench.workload import sampled_batches, shuffled_batches, trial
from actmodels.data.batching import Batch
from actmodels.data.trial_data import TrialData
from actmodels.models.pair_model import PairModel
from actmodels.models.prediction import Prediction

PRODUCTS_PER_RUN = 4e9  # operations of a run of matrix products, at least one product


def executed_flops(work: Callable[[], object]) -> int:
    """Operations of all matrix products while `work` runs, backward passes as well."""
    with FlopCounterMode(display=False) as counter:
        work()
    return int(counter.get_total_flops())


class Seen:
    """The lengths and steps of all examples that a model answers, from now on."""

    def __init__(self, model: PairModel) -> None:
        self.premise: list[Tensor] = []
        self.hypothesis: list[Tensor] = []
        self.steps: list[Tensor] = []
        self.handle = model.register_forward_hook(self._add)

    def _add(self, model: object, inputs: tuple[Batch], prediction: Prediction) -> None:
        assert prediction.steps is not None
        self.premise.append(inputs[0].premise_mask.sum(dim=-1))
        self.hypothesis.append(inputs[0].hypothesis_mask.sum(dim=-1))
        self.steps.append(prediction.steps)

    def useful(self, shape: Shape) -> float:
        """The operations that these examples need; looks at no more of them."""
        self.handle.remove()
        parts = (torch.cat(part) for part in (self.premise, self.hypothesis, self.steps))
        return float(useful_flops(shape, *parts).sum())


def products(size: int) -> Callable[[], Timed]:
    """Times products of square matrices; what is counted is operations."""
    left, right = torch.randn(size, size), torch.randn(size, size)
    out = torch.empty(size, size)
    number = max(1, round(PRODUCTS_PER_RUN / (2 * size**3)))

    def work() -> float:
        for _ in range(number):
            torch.mm(left, right, out=out)
        return 2.0 * size**3 * number

    return lambda: timed(work)


def measure(plan: Plan, data: TrialData, say: Say) -> dict[str, Any]:
    """Rows of the peak and of each batch size."""
    torch.set_num_threads(1)
    peak = interleaved({str(size): products(size) for size in plan.cubes}, plan.repeats, say)
    best = max(plan.cubes, key=lambda size: rates(peak[str(size)])["per_second"]["median"])
    return {
        "peak": [{"cube": size, **rates(peak[str(size)])} for size in plan.cubes],
        "rows": [
            row
            for batch_size in plan.batch_sizes
            for row in _batch_size(plan, data, batch_size, best, say)
        ],
    }


def _batch_size(
    plan: Plan, data: TrialData, batch_size: int, cube: int, say: Say
) -> list[dict[str, Any]]:
    batches = sampled_batches(data.train, batch_size, plan.updates(batch_size))
    config = trial(plan.sizes, batch_size)
    ours = prepared(config, data, batches)
    plain, mixed = plain_twin(ours), shuffled_batches(batches)
    shape = Shape.of(config, data.words.vectors.shape[1])
    ways: dict[str, tuple[PairModel, Callable[[], object]]] = {
        "plain": (plain.model, lambda: plain.run(mixed)),
        "ours": (ours.model, ours.train_epoch),
    }
    examples = sum(map(len, batches))
    executed, useful = {}, {}
    for name, (model, work) in ways.items():
        seen = Seen(model)
        executed[name] = executed_flops(work)
        useful[name] = seen.useful(shape)

    def run(name: str) -> Callable[[], Timed]:
        def work() -> float:
            ways[name][1]()
            return useful[name]

        return lambda: timed(work)

    runs = interleaved(
        {"peak": products(cube), **{name: run(name) for name in ways}},
        plan.repeats,
        lambda what: say(f"batch {batch_size}: {what}"),
    )
    return [
        {
            "way": name,
            "batch_size": batch_size,
            "executed_per_example": executed[name] / examples,
            "useful_per_example": useful[name] / examples,
            "useful_share": useful[name] / executed[name],
            "useful_rate": rates(runs[name]),
            "share_of_peak": ratios(runs[name], runs["peak"]),
        }
        for name in ways
    ]
