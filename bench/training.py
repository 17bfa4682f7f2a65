"""Measure training speed on one thread against plain training loops.

    python -m bench.training

The plain loop of Adaptive Attention has our model's code. It shuffles the pairs, takes steps until
the last example of a batch has halted, and uses torch's dropout and Adagrad. The other plain models
are in `bench.peers`. Plain Decomposable Attention shuffles the pairs; in rows "sorted" it has our
batches of sentences of similar length, as the plain ACT RNNs have our sequences. Examples take the
same steps in both variants. Cells show median (minimum, maximum) of n interleaved rounds.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from actmodels.data.pairs import collate
from actmodels.modules.dropout import Dropout
from actmodels.training import Training
from bench.peers import attention_epoch, rnn_epoch
from bench.timing import (
    interleaved,
    markdown_table,
    one_line,
    progress,
    quick_requested,
    seconds,
    summary,
)
from bench.work import PAPER, TINY, Sizes, build_fusion, drawn_data, sampled, trial
from pipeline.runtime.stage import run_command
from studies.sequences.config import build_sequence_trial
from studies.sequences.training import SequenceTraining
from tune.provenance import machine

Epochs = tuple[Callable[[], object], Callable[[], object], int]
RNN_SETTINGS: dict[str, Any] = {
    "bits": 64,  # Graves 2016
    "init": "xavier",
    "init_std": 0.1,
    "epsilon": 0.01,
    "ponder_weight": 0.001,
    "max_steps": 20,
    "halting_bias": -1.0,  # 4 to 5 steps on average
    "learning_rate": 1e-6,  # small, so that step counts do not change during the measurement
    "clip_norm": 1.0,
    "batch_size": 128,
    "dev_sequences": 1,
    "dev_seed": 1,
}


class PlainDropout(Dropout):
    """Dropout with masks from torch's generator."""

    def mask(self, shape: tuple[int, ...], like: Tensor) -> Tensor:
        return self(like.new_ones(() if self.idle else shape))

    def forward(self, inputs: Tensor) -> Tensor:
        assert isinstance(self.rate, float)
        return functional.dropout(inputs, self.rate, self.training)


def plain_epoch(training: Training, order: Tensor) -> Callable[[], None]:
    """Return a function that trains an epoch by the plain loop, on the pairs in this order.

    It modifies the trial's model.
    """
    settings, model, pairs = training.config.training, training.model.train(), training.data.train
    for module in model.modules():
        if isinstance(module, Dropout):
            module.__class__ = PlainDropout
    rate, start = settings.learning_rate, settings.adagrad_accumulator
    optimizer = torch.optim.Adagrad(model.parameters(), rate, initial_accumulator_value=start)

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


def pairs_of_epochs(
    model: str, sizes: Sizes, batch_size: int, examples: int, *, in_order: bool
) -> Epochs:
    """Return an epoch of the plain loop and of ours, and the number of pairs of each.

    in_order: whether the plain loop has batches of similar length, too.
    """
    data = sampled(drawn_data(sizes), batch_size, max(6, examples // batch_size))
    count = len(data.train)
    shuffled = torch.randperm(count, generator=torch.Generator().manual_seed(2))
    order = torch.arange(count) if in_order else shuffled
    if model == "adaptive_attention":
        plain, ours = (build_fusion(sizes.width, batch_size, data).members[0] for _ in range(2))
        return plain_epoch(plain, order), ours.train_epoch, count
    training = Training(trial(sizes.width, batch_size, model=model, optimizer="adam"), data)
    return attention_epoch(training, order), training.train_epoch, count


def sequences_of_epochs(cell: str, size: int, updates: int) -> Epochs:
    """Return an epoch of the plain ACT RNN on parity and of ours, and the number of sequences."""
    settings = RNN_SETTINGS | {"cell": cell, "state_size": size, "updates_per_epoch": updates}
    config = build_sequence_trial("parity", "act", settings, max_epochs=99, patience=0, seed=1)
    training = SequenceTraining(config)
    return rnn_epoch(training), training.train_epoch, updates * config.training.batch_size


def measured(name: str, batch_size: int, epochs: Epochs, repeats: int) -> dict[str, Any]:
    """Time both epochs in alternation; return the table row."""
    plain, ours, examples = epochs
    variants = {"plain": partial(seconds, plain), "ours": partial(seconds, ours)}
    times = interleaved(variants, repeats)
    rates = {way: summary(examples / each for each in times[way]) for way in variants}
    ratios = (a / b for a, b in zip(times["plain"], times["ours"], strict=True))
    row = {"model": name, "batch_size": batch_size, "times_as_fast": summary(ratios)}
    return row | {f"{way}_examples_per_second": rate for way, rate in rates.items()}


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    """Measure every model and batch size."""
    sizes, examples, repeats = (TINY, 48, 2) if quick else (PAPER, 480, 5)
    decomposable = "decomposable_attention"
    for model, in_order in (
        ("adaptive_attention", False),
        (decomposable, False),
        (decomposable, True),
    ):
        name = f"{model}, sorted" if in_order else model
        for batch_size in (8,) if quick else (8, 16, 32, 64):
            progress(f"{name}, batch size {batch_size}")
            epochs = pairs_of_epochs(model, sizes, batch_size, examples, in_order=in_order)
            yield measured(name, batch_size, epochs, repeats)
    for cell, size in (("rnn", 64),) if quick else (("rnn", 64), ("rnn", 128), ("lstm", 128)):
        progress(f"{cell} {size}")
        epochs = sequences_of_epochs(cell, size, 2 if quick else 40)
        yield measured(f"act_{cell}_{size}", RNN_SETTINGS["batch_size"], epochs, repeats)


def main() -> None:
    """Print the table."""
    quick = quick_requested("training", __doc__)
    torch.set_num_threads(1)
    print(one_line(machine()), end="\n\n")
    print(markdown_table([*rows(quick)]))


if __name__ == "__main__":
    run_command(main)
