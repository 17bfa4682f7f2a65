"""Training speed: this project's loop and its fusions of trials against the plain loop, one thread.

    python -m bench.training

The plain loop: shuffled batches padded to the longest sentence; every example takes steps until the
last of its batch has halted; dropout and Adagrad as torch has them; weight gradients formed at each
step. The model's own code is the same. All train on the same pairs, and take 5.1 steps in the mean.
Cells are the median (smallest to largest) of n rounds in which the variants took turns.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from actmodels.data.pairs import collate
from actmodels.modules.dropout import Dropout
from actmodels.training import Training
from bench.timing import interleaved, listed, progress, seconds, summary, table
from bench.work import PAPER, TINY, Sizes, begun, drawn_data, epoch_of, sampled
from pipeline.runtime.stage import run_command
from tune.provenance import machine


class PlainDropout(Dropout):
    """Masks from torch's generator."""

    def mask(self, shape: tuple[int, ...], like: Tensor) -> Tensor:
        dropped: Tensor = self(like.new_ones(() if self.idle else shape))
        return dropped

    def forward(self, inputs: Tensor) -> Tensor:
        assert isinstance(self.rate, float)
        return functional.dropout(inputs, self.rate, self.training)


def plain_epoch(training: Training) -> Callable[[], None]:
    """What trains an epoch of a trial the plain way; the trial's model is changed."""
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
    """Measure each variant at one batch size; fusions: numbers of fused trials."""
    variants: dict[tuple[str, int], Callable[[], float]] = {}
    counts: dict[tuple[str, int], int] = {}
    for way, trials in [("plain", 1), ("ours", 1), *(("fused", number) for number in fusions)]:
        updates = max(
            6, examples // batch_size // trials
        )  # those of a fusion are of all its trials
        data = sampled(drawn_data(sizes), batch_size, updates)
        fusion = begun(sizes.width, batch_size, data, trials)
        epoch = plain_epoch(fusion.members[0]) if way == "plain" else epoch_of(fusion)
        variants[way, trials] = partial(seconds, epoch)
        counts[way, trials] = trials * len(data.train)
    found = interleaved(variants, repeats)
    rates = {name: [counts[name] / taken for taken in found[name]] for name in found}
    for (way, trials), of in rates.items():
        ratio = summary(one / plain for one, plain in zip(of, rates["plain", 1], strict=True))
        row = {"batch_size": batch_size, "way": way, "trials": trials}
        yield row | {"examples_per_second": summary(of), "times_as_fast": ratio}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.training", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--quick", action="store_true", help="tiny sizes: no figure counts")
    quick = parser.parse_args().quick
    torch.set_num_threads(1)
    print(listed(machine()), end="\n\n")
    found: list[dict[str, Any]] = []
    for batch_size in (8,) if quick else (8, 16, 32):
        progress(f"batch size {batch_size}")
        found += rows(TINY, 8, (2,), 48, 2) if quick else rows(PAPER, batch_size, (8, 48), 640, 5)
    print(table(found))


if __name__ == "__main__":
    run_command(main)
