"""The formula of useful operations against counting by hand and against torch's counter."""

import pytest
import torch
from torch import Tensor

from actmodels.bench.flops import Seen, executed_flops
from actmodels.bench.trials import plain_twin, prepared
from actmodels.bench.useful import Shape, useful_flops
from actmodels.bench.workload import TINY, drawn_data, sampled_batches, shuffled_batches, trial
from actmodels.data.batching import Batch, collate
from actmodels.models.alternating import AlternatingAttention, Loop


def test_one_example_by_hand() -> None:
    """e = 1, d = 1, so m = 2; s = 1, g = 1; one premise and one hypothesis token; one step."""
    words = 2 * 1  # both projected; backward the weight's gradient alone: 2 products in all
    alignment = 2 * 2 + 3  # two layers for two tokens; a score and two sums; 3 products each
    first_query = 1 * 2  # of the zero state: no gradient goes back to it
    step = first_query + (1 + 2) * 2 + 2 * 2 * 2 + 2 * (7 * 1 + 1 * 2) + 3 * 1 * 5 + 1
    answer = 1 + 3
    multiply_adds = 2 * words + 3 * (alignment + step + answer) - first_query
    one = torch.ones(1)
    found = useful_flops(Shape(vectors=1, width=1, state=1, gate=1), one, one, one)
    assert found.tolist() == [2 * multiply_adds]


@pytest.mark.parametrize("loop", ["until_halted", "running"])
def test_torch_counts_the_same_for_an_example_by_itself(loop: Loop) -> None:
    """A batch of one has no padding and takes no step beyond its own."""
    data, config = drawn_data(TINY), trial(TINY, 1)
    model = prepared(config, data, sampled_batches(data.train, 1, 12)).model
    assert isinstance(model, AlternatingAttention)
    shape = Shape.of(config, TINY.dimensions)
    for row in (3, 700):
        batch = collate(data.train, torch.tensor([row]), null_token=False)
        steps = []

        def work(batch: Batch = batch, steps: list[Tensor] = steps) -> None:
            prediction = model(batch, loop=loop)
            steps.append(prediction.steps)
            model.objective(prediction, batch.labels).backward()

        counted = executed_flops(work)
        lengths = (mask.sum(dim=-1) for mask in (batch.premise_mask, batch.hypothesis_mask))
        useful = useful_flops(shape, *lengths, *steps).tolist()
        # the product's pass also forms the gradient of the first state, which nobody reads
        first_query = 2 * shape.state * 2 * shape.width if loop == "running" else 0
        assert useful in ([counted], [counted - first_query])


def test_padding_and_steps_after_the_end_are_executed_but_not_useful() -> None:
    data, config = drawn_data(TINY), trial(TINY, 8)
    batches = sampled_batches(data.train, 8, 6)
    ours = prepared(config, data, batches)
    plain, mixed = plain_twin(ours), shuffled_batches(batches)
    shape = Shape.of(config, TINY.dimensions)
    shares = {}
    for name, model, work in (
        ("ours", ours.model, ours.train_epoch),
        ("plain", plain.model, lambda: plain.run(mixed)),
    ):
        seen = Seen(model)
        executed = executed_flops(work)
        shares[name] = seen.useful(shape) / executed
    assert 0 < shares["plain"] < shares["ours"] <= 1
