"""Measure training speed on one thread against plain training loops.

    python -m bench.training

The plain models are in `bench.peers`. They have our word vectors, batch sizes and optimizer; in
rows "equal batches" also our batches of sentences of similar length, and otherwise shuffled pairs.
Models with ACT start from the same weights, so that examples take the same steps; in rows "own
start" the plain RNN has torch's initialization and a halting bias for the same mean steps. Ratios
are of CPU seconds. Cells show median (minimum, maximum) of n interleaved rounds.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import nn

from actmodels.data.pairs import Batch, collate
from actmodels.data.trial_data import TrialData
from actmodels.training import Training
from bench.peers import (
    PlainAdaptiveAttention,
    PlainHopAttention,
    decomposable,
    pair_epoch,
    rnn_epoch,
)
from bench.timing import (
    interleaved,
    markdown_table,
    one_line,
    progress,
    quick_requested,
    summary,
)
from bench.work import PAPER, SETTINGS, TINY, Sizes, build_fusion, drawn_data, sampled, trial
from pipeline.runtime.stage import run_command
from studies.multihop.config import MultihopTrialConfig
from studies.multihop.corpus import draw_split, word_vectors
from studies.multihop.training import MultihopTraining
from studies.sequences.config import build_sequence_trial
from studies.sequences.training import SequenceTraining
from tune.trials.provenance import machine

Epochs = tuple[Callable[[], object], Callable[[], object], int]
HOP_SETTINGS: dict[str, Any] = {  # of the demo
    "things": 90,
    "chains": 3,
    "distractors": 0,
    "width": 64,
    "gate_size": 64,
    "reverted": "none",
    "dropout": 0.0,
    "oov_std": 0.8,
    "max_steps": 8,
    "batch_size": 128,
    "optimizer": "adam",
    "max_hops": 4,
    "join_accuracy": 0.9,
    "steps_per_hop": 2,
    "ponder_delay": 0,
}
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
        training = build_fusion(sizes.width, batch_size, data).members[0]
        plain: nn.Module = PlainAdaptiveAttention(training)
    else:
        training = Training(trial(sizes.width, batch_size, model=model, optimizer="adam"), data)
        plain = decomposable(training)

    def batches() -> Iterator[Batch]:
        return (collate(data.train, n, null_token=False) for n in order.split(batch_size))

    return pair_epoch(training, plain, batches), training.train_epoch, count


def hop_training(updates: int) -> MultihopTraining:
    """Return a trial of Hop Attention on pairs of all depths, with the demo's settings."""
    settings = SETTINGS | HOP_SETTINGS | {"updates_per_epoch": updates}
    known = MultihopTrialConfig.setting_types("hop_attention")
    chosen = {name: value for name, value in settings.items() if name in known}
    config = MultihopTrialConfig.build("hop_attention", chosen, max_epochs=99, patience=0, seed=1)
    dev = draw_split(config.corpus, 1, (1,), 1, torch.Generator())
    vectors = word_vectors(config.corpus, HOP_SETTINGS["width"])
    training = MultihopTraining(config, TrialData(dev, dev, vectors))
    training.depths_in_training = HOP_SETTINGS["max_hops"]
    return training


def hops_of_epochs(updates: int) -> Epochs:
    """Return an epoch of plain Hop Attention and of ours, and the number of pairs of each."""
    training = hop_training(updates)
    plain = pair_epoch(
        training,
        PlainHopAttention(training),
        lambda: training.batches(training.epoch_generator),
    )
    return plain, training.train_epoch, updates * HOP_SETTINGS["batch_size"]


def sequences_of_epochs(cell: str, size: int, updates: int, *, own_start: bool = False) -> Epochs:
    """Return an epoch of the plain ACT RNN on parity and of ours, and the number of sequences.

    own_start: the plain one starts from torch's initialization, with the same mean steps.
    """
    settings = RNN_SETTINGS | {"cell": cell, "state_size": size, "updates_per_epoch": updates}
    config = build_sequence_trial("parity", "act", settings, max_epochs=99, patience=0, seed=1)
    training = SequenceTraining(config)
    return (
        rnn_epoch(training, own_start=own_start),
        training.train_epoch,
        updates * config.training.batch_size,
    )


def cpu_seconds(function: Callable[[], object]) -> float:
    """Call `function` and return the CPU seconds of this process."""
    start = time.process_time()
    function()
    return time.process_time() - start


def measured(name: str, batch_size: int, epochs: Epochs, repeats: int) -> dict[str, Any]:
    """Time both epochs in alternation; return the table row."""
    plain, ours, examples = epochs
    variants = {"plain": partial(cpu_seconds, plain), "ours": partial(cpu_seconds, ours)}
    times = interleaved(variants, repeats)
    rates = {way: summary(examples / each for each in times[way]) for way in variants}
    ratios = (a / b for a, b in zip(times["plain"], times["ours"], strict=True))
    row = {"model": name, "batch_size": batch_size, "times_as_fast": summary(ratios)}
    return row | {f"{way}_examples_per_second": rate for way, rate in rates.items()}


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    """Measure every model and batch size."""
    sizes, examples, repeats = (TINY, 48, 2) if quick else (PAPER, 480, 7)
    for model, in_order, batch_sizes in (
        ("decomposable_attention", True, (8, 16, 32, 64)),
        ("decomposable_attention", False, (8, 16, 32, 64)),
        ("adaptive_attention", False, (8, 16, 32)),
    ):
        name = f"{model}, {'equal' if in_order else 'shuffled'} batches"
        for batch_size in batch_sizes[:1] if quick else batch_sizes:
            progress(f"{name}, batch size {batch_size}")
            epochs = pairs_of_epochs(model, sizes, batch_size, examples, in_order=in_order)
            yield measured(name, batch_size, epochs, repeats)
    progress("hop_attention")
    epochs = hops_of_epochs(2 if quick else 15)
    yield measured("hop_attention", HOP_SETTINGS["batch_size"], epochs, repeats)
    for own_start in (False, True):
        for cell, size in (("rnn", 64),) if quick else (("rnn", 64), ("rnn", 128), ("lstm", 128)):
            name = f"act_{cell}_{size}, {'own' if own_start else 'same'} start"
            progress(name)
            epochs = sequences_of_epochs(cell, size, 2 if quick else 40, own_start=own_start)
            yield measured(name, RNN_SETTINGS["batch_size"], epochs, repeats)


def main() -> None:
    """Print the table."""
    quick = quick_requested("training", __doc__)
    torch.set_num_threads(1)
    print(one_line(machine()), end="\n\n")
    print(markdown_table([*rows(quick)]))


if __name__ == "__main__":
    run_command(main)
