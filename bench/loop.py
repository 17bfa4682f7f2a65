"""Time and memory of the loop over steps for a network of its own, with and without dropping rows.

    python -m bench.loop

A GRU cell of 256 units takes steps on 256 examples that halt at planned steps. `dropped`: halted
examples leave the step; `all rows`: every step reads all examples. Ratios are of CPU seconds on one
thread; cells show median (minimum, maximum) of n interleaved rounds. Memory is the growth of the
process in inference, in MiB, with 4 MiB of states and 48 steps.
"""

import multiprocessing
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from actmodels.halting import Act, ActConfig, PonderNet, PonderNetConfig, adapt_steps
from bench.timing import interleaved, markdown_table, one_line, quick_requested, summary
from bench.training import cpu_seconds
from pipeline.runtime.stage import run_command
from tune.trials.provenance import machine

EXAMPLES, UNITS, MOST = 256, 256, 48
# Steps that examples need: share of the slow ones, and steps of the slow and of the others.
CASES = {"one slow": (1 / 256, 48, 2), "a quarter slow": (0.25, 48, 2), "equal": (1.0, 16, 16)}


class Planned(nn.Module):
    """Halting unit that reads the steps taken and planned from the first two units of a state."""

    def forward(self, state: Tensor) -> Tensor:
        """Map states [..., units] to h [...]."""
        return torch.sigmoid(40 * (state[..., 0] - state[..., 1] + 0.5))


class Network(nn.Module):
    """A step, a classifier and ACT."""

    def __init__(self, share: float, slow: int, fast: int) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.cell, self.head = nn.GRUCell(UNITS, UNITS), nn.Linear(UNITS, 3)
        self.halting = Act(ActConfig(max_steps=MOST), UNITS + 2)
        self.halting.unit = Planned()
        self.inputs, self.labels = torch.randn(EXAMPLES, UNITS), torch.arange(EXAMPLES) % 3
        self.start = torch.zeros(EXAMPLES, UNITS + 2)
        self.start[:, 1] = fast
        self.start[: round(share * EXAMPLES), 1] = slow

    def step(self, state: Tensor, inputs: Tensor) -> Tensor:
        """Count the step, and read the input again."""
        following = self.cell(inputs, state[:, 2:])
        return torch.cat([state[:, :1] + 1, state[:, 1:2], following], dim=-1)

    def classify(self, state: Tensor) -> Tensor:
        """Return logits of the units."""
        return self.head(state[..., 2:])

    def run(self, *, compact: bool, trains: bool) -> None:
        """Predict, and in training compute the gradients."""
        with torch.set_grad_enabled(trains):
            loop = (self.step, self.start, self.halting, self.classify)
            prediction = adapt_steps(*loop, inputs=self.inputs, compact=compact)
            if trains:
                self.halting.objective(prediction, self.labels).backward()


def speed(case: str, *, trains: bool, repeats: int) -> dict[str, Any]:
    """Return the row of a case."""
    network = Network(*CASES[case])
    run = partial(network.run, trains=trains)
    variants = {
        name: partial(cpu_seconds, partial(run, compact=name == "dropped")) for name in ROWS
    }
    times = interleaved(variants, repeats)
    ratios = (a / b for a, b in zip(times["all rows"], times["dropped"], strict=True))
    name = f"{case}, {'training' if trains else 'inference'}: times as fast as all rows"
    return {"measurement": name, "result": summary(ratios)}


ROWS = ("dropped", "all rows")


def growth(name: str, connection: Any) -> None:
    """Send the growth of this process in inference in MiB."""
    torch.set_num_threads(1)
    state = torch.zeros(4096, 256)  # 4 MiB
    act, net = Act(ActConfig(max_steps=MOST), 256), PonderNet(PonderNetConfig(max_steps=MOST), 256)
    halting, head = {"ACT": act, "PonderNet": net}[name].eval(), nn.Linear(256, 3)
    nn.init.constant_(halting.unit.linear.bias, -12.0)  # all steps
    with torch.no_grad():
        adapt_steps(torch.tanh, state[:64], halting, head)
        Path("/proc/self/clear_refs").write_text("5")  # the peak is now the present size
        before = peak()
        adapt_steps(torch.tanh, state, halting, head)
    connection.send(peak() - before)


def peak() -> float:
    """Return the largest size of this process in MiB."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def memory(name: str, repeats: int) -> dict[str, Any]:
    """Return the row of a mechanism; each round is a process of its own."""
    context, values = multiprocessing.get_context("spawn"), []
    for _ in range(repeats):
        ours, theirs = context.Pipe()
        process = context.Process(target=growth, args=(name, theirs))
        process.start()
        values.append(ours.recv())
        process.join()
    return {"measurement": f"{name}, memory of inference, MiB", "result": summary(values)}


def main() -> None:
    """Print the table."""
    quick = quick_requested("loop", __doc__)
    torch.set_num_threads(1)
    repeats = 1 if quick else 7
    rows = [speed(case, trains=t, repeats=repeats) for case in CASES for t in (False, True)]
    rows += [memory(name, 1 if quick else 3) for name in ("ACT", "PonderNet")]
    print(f"{one_line(machine())}\n\n{markdown_table(rows)}")


if __name__ == "__main__":
    run_command(main)
