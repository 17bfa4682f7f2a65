"""Bit strings, and a network that reads each bit and its neighbors in every step.

The network is a recurrent block as in Neural GPUs (Kaiser & Sutskever 2016, arXiv:1511.08228): one
cell at every bit, which reads its bit again in each step (Bansal et al. 2022, arXiv:2202.05826). A
step carries news by one bit, so the steps that an answer needs are known.
"""

from typing import NamedTuple

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import pad

from actmodels.halting.base import Halting, build_halting
from actmodels.halting.loop import adapt_steps
from actmodels.prediction import Prediction
from actmodels.registry import HaltingConfig
from studies.stopping.config import Task

NUMBERS = {"prefix_sums": 1, "addition": 2}  # numbers in a string, by task


class Strings(NamedTuple):
    """Strings of one length."""

    inputs: Tensor  # 1, or -1 for bit 0 [strings, bits, numbers]; addition: lowest bit first
    targets: Tensor  # parity of the bits up to each one, or bit of the sum [strings, bits]
    needed: Tensor  # steps that carry all that determines a target to it [strings, bits]


def draw(task: Task, count: int, bits: int, generator: Generator) -> Strings:
    """Draw random strings."""
    drawn = torch.randint(2, (count, bits, NUMBERS[task]), generator=generator)
    total, inputs = drawn.sum(dim=2), 2.0 * drawn - 1
    if task == "prefix_sums":
        steps = torch.arange(1, bits + 1).expand(count, -1)
        return Strings(inputs, total.cumsum(dim=1) % 2, steps)
    carry, known = torch.zeros_like(total[:, 0]), torch.zeros_like(total[:, 0])
    sums, needed = list[Tensor](), list[Tensor]()
    for column in total.unbind(dim=1):
        sums.append(column + carry)
        needed.append(known + 1)
        carry = sums[-1] // 2
        known = torch.where(column == 1, known + 1, 1)  # two equal bits determine the carry
    return Strings(inputs, torch.stack(sums, dim=1) % 2, torch.stack(needed, dim=1))


class StringNetwork(nn.Module):
    """Classify every bit; each halts by itself, and its neighbors then read its last state."""

    def __init__(self, task: Task, width: int, halting: HaltingConfig) -> None:
        super().__init__()
        self.width = width
        self.cell = nn.GRUCell(NUMBERS[task] + 2 * width, width)
        self.classify = nn.Linear(width, 2)
        self.halting = build_halting(halting, width)

    def forward(
        self, inputs: Tensor, halting: Halting | None = None, max_steps: int | None = None
    ) -> Prediction:
        """Return the prediction of each bit [strings, bits]; halting: another mechanism."""

        def step(state: Tensor) -> Tensor:
            left, right = pad(state, (0, 0, 1, 0))[:, :-1], pad(state, (0, 0, 0, 1))[:, 1:]
            seen = torch.cat([inputs, left, right], dim=-1)
            following: Tensor = self.cell(seen.flatten(0, 1), state.flatten(0, 1))
            return following.view_as(state)

        start = inputs.new_zeros(*inputs.shape[:2], self.width)
        own = self.halting if halting is None else halting
        return adapt_steps(step, start, own, self.classify, batch_dims=2, max_steps=max_steps)
