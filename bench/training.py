"""Measure training speed on one thread: single and fused trials against a plain training loop.

    python -m bench.training

The plain loop shuffles batches, pads them to the longest sentence, and takes steps until the last
example of a batch has halted. It uses torch's dropout and Adagrad, and forms weight gradients at
each step. The model's code is the same. All variants train on the same pairs, with 5.1 steps on
average. Cells show median (minimum, maximum) of n interleaved rounds.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from actmodels.data.pairs import collate
from actmodels.modules.dropout import Dropout
from actmodels.training import Training
from bench.timing import (
    interleaved,
    markdown_table,
    one_line,
    progress,
    quick_requested,
    seconds,
    summary,
)
from bench.work import PAPER, TINY, Sizes, build_fusion, drawn_data, epoch_runner, sampled
from pipeline.runtime.stage import run_command
from tune.provenance import machine


class PlainDropout(Dropout):
    """Dropout with masks from torch's generator."""

    def mask(self, shape: tuple[int, ...], like: Tensor) -> Tensor:
        return self(like.new_ones(() if self.idle else shape))

    def forward(self, inputs: Tensor) -> Tensor:
        assert isinstance(self.rate, float)
        return functional.dropout(inputs, self.rate, self.training)


def plain_epoch(training: Training) -> Callable[[], None]:
    """Return a function that trains one epoch by the plain loop; modifies the trial's model."""
    settings, model, pairs = training.config.training, training.model.train(), training.data.train
    for module in model.modules():
        if isinstance(module, Dropout):
            module.__class__ = PlainDropout
    rate, start = settings.learning_rate, settings.adagrad_accumulator
    optimizer = torch.optim.Adagrad(model.parameters(), rate, initial_accumulator_value=start)
    order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(2))

    def run() -> None:
        for index in order.split(settings.batch_size):
            batch = collate(pairs, index, null_token=False)
            loss = model.objective(model(batch, loop="until_halted"), batch.labels)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), settings.clip_norm)
            optimizer.step()
            loss.item()

    return run


def rows(
    sizes: Sizes, batch_size: int, fusions: Sequence[int], examples: int, repeats: int
) -> Iterator[dict[str, Any]]:
    """Measure each variant at one batch size.

    Args:
        fusions: numbers of fused trials.
        examples: examples of an epoch, all trials together; at least 6 updates are taken.
    """
    epochs: dict[tuple[str, int], Callable[[], float]] = {}
    counts: dict[tuple[str, int], int] = {}
    for way, trials in [("plain", 1), ("ours", 1), *(("fused", number) for number in fusions)]:
        updates = max(6, examples // batch_size // trials)
        data = sampled(drawn_data(sizes), batch_size, updates)
        fusion = build_fusion(sizes.width, batch_size, data, trials)
        epoch = plain_epoch(fusion.members[0]) if way == "plain" else epoch_runner(fusion)
        epochs[way, trials] = partial(seconds, epoch)
        counts[way, trials] = trials * len(data.train)
    times = interleaved(epochs, repeats)
    rates = {key: [counts[key] / time for time in times[key]] for key in times}
    for (way, trials), own in rates.items():
        ratios = (rate / plain for rate, plain in zip(own, rates["plain", 1], strict=True))
        row = {"batch_size": batch_size, "way": way, "trials": trials}
        yield row | {"examples_per_second": summary(own), "times_as_fast": summary(ratios)}


def main() -> None:
    """Print the table."""
    quick = quick_requested("training", __doc__)
    torch.set_num_threads(1)
    print(one_line(machine()), end="\n\n")
    table: list[dict[str, Any]] = []
    for batch_size in (8,) if quick else (8, 16, 32):
        progress(f"batch size {batch_size}")
        table += rows(TINY, 8, (2,), 48, 2) if quick else rows(PAPER, batch_size, (8, 48), 640, 5)
    print(markdown_table(table))


if __name__ == "__main__":
    run_command(main)
