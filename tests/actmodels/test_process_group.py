"""Steps of processes that take the same number of them, for layers that communicate (FSDP)."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, distributed, multiprocessing, nn

from actmodels.halting import adapt_steps
from actmodels.registry import HALTINGS
from tests.actmodels.outside import LABELS, build, parts


class Network(nn.Module):
    def __init__(self, name: str, *, with_inputs: bool, group: Any = None) -> None:
        super().__init__()
        self.layer, self.classify, _ = parts()
        self.halting, self.with_inputs, self.group = build(name), with_inputs, group

    def step(self, states: Tensor, inputs: Any = 0) -> Tensor:
        return self.layer(states + inputs)

    def forward(self, states: Tensor, labels: Tensor, budget: Tensor | None) -> tuple[Any, Tensor]:
        options = {"inputs": states / 9 if self.with_inputs else None, "max_steps": budget}
        loop = (self.step, states, self.halting, self.classify)
        prediction = adapt_steps(*loop, group=self.group, **options)
        return prediction, self.halting.objective(prediction, labels)


def compare(rank: int, name: str, *, with_inputs: bool, budgets: bool) -> None:
    """Compare half of a batch in this process with the batch in one; the slow half is rank 1's."""
    from torch.distributed.fsdp import fully_shard  # here: torch may be without torch.distributed

    states, labels = parts()[2].flatten(0, 1)[:8], LABELS.flatten()[:8]
    budget = torch.tensor([1, 2, 1, 2, 9, 8, 9, 8]) if budgets else None
    joint = Network(name, with_inputs=with_inputs)
    prediction, loss = joint(states, labels, budget)
    loss.backward()
    mine = (prediction.steps if budget is None else budget).argsort().chunk(2)[rank]
    network = Network(name, with_inputs=with_inputs, group=distributed.group.WORLD)
    fully_shard(network.layer)
    fully_shard(network)
    half = states[mine], labels[mine], None if budget is None else budget[mine]
    torch.manual_seed(rank)  # RandomSteps draws different numbers
    own, loss = network(*half)
    loss.backward()
    if name != "random_steps":
        assert_equal(own, prediction, mine)
        for one, other in zip(network.parameters(), joint.parameters(), strict=True):
            grad = None if one.grad is None else one.grad.full_tensor()
            torch.testing.assert_close(grad, other.grad)
    with torch.no_grad():
        own, prediction = network.eval()(*half)[0], joint.eval()(states, labels, budget)[0]
    assert_equal(own, prediction, mine)


def assert_equal(half: Any, prediction: Any, mine: Tensor) -> None:
    for one, other in zip(half[:3], prediction[:3], strict=True):
        torch.testing.assert_close(one, None if other is None else other[mine])


def run(rank: int, store: str) -> None:
    limit = timedelta(seconds=20)  # a process that waits for the other one fails
    distributed.init_process_group("gloo", f"file://{store}", limit, 2, rank)
    torch.set_num_threads(1)
    for name in HALTINGS:
        for with_inputs in (False, True):
            compare(rank, name, with_inputs=with_inputs, budgets=False)
    compare(rank, "act", with_inputs=True, budgets=True)
    distributed.destroy_process_group()


@pytest.mark.slow(minutes=1)
@pytest.mark.skipif(not distributed.is_available(), reason="torch without torch.distributed")
def test_processes_with_different_steps_equal_one_process(tmp_path: Path) -> None:
    multiprocessing.spawn(run, (str(tmp_path / "store"),), nprocs=2)
