"""The workload of the benchmarks: trials of the paper's size on sentences of SNLI's lengths.

All data are drawn from a fixed seed: equal arguments give equal work on every machine.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from actmodels.data.pairs import FIRST_WORD, PairTensors, batches_by_length, collate
from actmodels.data.trial_data import TrialData, WordVectors
from actmodels.fused import FusedTraining
from actmodels.halting.act import Act
from actmodels.halting.steps import truncate
from actmodels.models.alternating import AlternatingAttention
from actmodels.static_updates import StaticTraining
from actmodels.trial_config import TrialConfig, build_trial, setting_types

# Tokens of SNLI's sentences: mean, standard deviation, maximum.
PREMISE, HYPOTHESIS = (14.1, 6.0, 82), (7.8, 3.0, 62)
VECTOR_STD = 0.35  # vectors of norm 6, as GloVe's
MEAN_STEPS = 5.1  # of a trained trial, about
STEP_RANGE = 3.1  # the slowest trial of a fusion takes this many steps more, the fastest fewer
SHARPNESS = 6.0  # factor of the halting weights: steps get the SD of a trained trial, 1.4
CALIBRATION_PAIRS = 256
BISECTIONS = 20


@dataclass(frozen=True)
class Sizes:
    """Sizes of data and model; `width` is also the size of the model's state and gates."""

    pairs: int
    words: int
    dimensions: int
    width: int


CLASSES = ("neutral", "entailment", "contradiction")
PAPER = Sizes(549_367, 37_000, 300, 200)  # words: of SNLI's training pairs that have a vector
TINY = Sizes(1_500, 200, 12, 8)

SETTINGS: dict[str, Any] = {
    "dropout": 0.1,
    "epsilon": 0.01,
    "ponder_weight": 0.001,
    "max_steps": 20,
    "halting_bias": -1.0,  # replaced by `set_steps`
    "optimizer": "adagrad",
    "learning_rate": 1e-6,  # small, so that step counts do not change during the measurement
    "final_rate": 1.0,
    "adagrad_accumulator": 0.1,
    "clip_norm": 5.0,
    "train_pairs": 0,
    "init": "xavier",
    "init_std": 0.01,
    "oov_rule": "own",
    "oov_buckets": 100,
    "oov_std": 0.01,
    "mean_norm": 0.0,
    "unit_norm": False,
    "null_token": False,
}


def trial(
    width: int,
    batch_size: int,
    *,
    max_epochs: int = 1,
    seed: int = 1,
    model: str = "adaptive_attention",
    **settings: Any,
) -> TrialConfig:
    """Build a trial; `settings` override SETTINGS, those the model lacks are ignored."""
    shape = dict.fromkeys(("width", "state_size", "gate_size"), width)
    values = {**SETTINGS, **shape, "batch_size": batch_size, **settings}
    model_settings = {name: values[name] for name in setting_types(model) if name in values}
    return build_trial(model, model_settings, max_epochs=max_epochs, patience=0, seed=seed)


@functools.cache
def drawn_data(sizes: Sizes) -> TrialData:
    """Draw pairs of SNLI's lengths, words by Zipf's law, labels, and a vector for each word."""
    generator = torch.Generator().manual_seed(2016)
    lengths = [_lengths(sizes.pairs, *side, generator) for side in (PREMISE, HYPOTHESIS)]
    premise, hypothesis = (_sentences(each, sizes.words, generator) for each in lengths)
    labels = torch.randint(len(CLASSES), (sizes.pairs,), generator=generator)
    pairs = PairTensors(*premise, *hypothesis, labels, torch.zeros_like(labels), CLASSES)
    vectors = torch.randn(sizes.words, sizes.dimensions, generator=generator) * VECTOR_STD
    known = torch.ones(sizes.words, dtype=torch.bool)
    return TrialData(pairs, pairs, WordVectors(vectors, known, torch.arange(sizes.words), known))


def _lengths(
    count: int, mean: float, sd: float, longest: int, generator: torch.Generator
) -> Tensor:
    """Draw log-normal lengths [count] of this mean and standard deviation."""
    variance = math.log(1 + (sd / mean) ** 2)
    normal = torch.randn(count, generator=generator)
    lengths = torch.exp(math.log(mean) - variance / 2 + math.sqrt(variance) * normal)
    return lengths.round().long().clamp(1, longest)


def _sentences(lengths: Tensor, words: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw token ids [tokens], concatenated, and the offsets of the sentences [sentences + 1]."""
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
    cumulative = (1 / torch.arange(1, words + 1, dtype=torch.float64)).cumsum(0)
    uniform = torch.rand(int(offsets[-1]), generator=generator, dtype=torch.float64)
    ranks = torch.searchsorted(cumulative, uniform * cumulative[-1])
    return (FIRST_WORD + ranks.clamp(max=words - 1)).int(), offsets


def sampled(data: TrialData, batch_size: int, count: int) -> TrialData:
    """Select `count` batches of an epoch, evenly spaced in order of length."""
    epoch = list(batches_by_length(data.train, batch_size))
    numbers = ((torch.arange(count) + 0.5) * (len(epoch) / count)).long().tolist()
    pairs = data.train.take(torch.cat([epoch[number] for number in numbers]))
    return TrialData(pairs, pairs, data.words)


def build_fusion(
    width: int,
    batch_size: int,
    data: TrialData,
    trials: int = 1,
    device: str = "cpu",
    *,
    graphs: bool = False,
    model: str = "adaptive_attention",
) -> FusedTraining:
    """Build trials of one seed; mean steps, if any, differ, as in a grid, around MEAN_STEPS.

    graphs: with recorded updates.
    """
    make = StaticTraining if graphs else FusedTraining
    fusion = make([trial(width, batch_size, model=model)] * trials, data, device)
    for number, member in enumerate(fusion.members):
        if isinstance(member.model, AlternatingAttention):
            offset = STEP_RANGE * (1 - (2 * number + 1) / trials)
            set_steps(member.model, data.train, MEAN_STEPS + offset)
    return fusion


def epoch_runner(fusion: FusedTraining) -> Callable[[], object]:
    """Return a function that trains one epoch, a single trial by the unfused loop."""
    if len(fusion.members) == 1 and not isinstance(fusion, StaticTraining):
        return fusion.members[0].train_epoch
    return partial(fusion.train_epoch, *fusion.fused(fusion.members), fusion.members)


@torch.no_grad()
def set_steps(model: AlternatingAttention, pairs: PairTensors, mean: float) -> None:
    """Sharpen the halting unit and set its bias so that N has this mean over the pairs."""
    assert isinstance(model.halting, Act)
    unit, halting = model.halting.unit.linear, model.halting
    assert isinstance(halting.epsilon, float)
    unit.weight *= SHARPNESS
    index = torch.arange(len(pairs))[:: max(len(pairs) // CALIBRATION_PAIRS, 1)]
    batch = collate(pairs, index, null_token=False, device=unit.weight.device)
    scores = model.all_steps(batch, halting.max_steps).states @ unit.weight[0]
    low, high = -float(scores.max()) - 10.0, -float(scores.min()) + 10.0
    for _ in range(BISECTIONS):  # N falls as the bias rises
        middle = (low + high) / 2
        steps = truncate(torch.sigmoid(scores + middle), halting.epsilon).steps
        low, high = (middle, high) if float(steps.mean()) > mean else (low, middle)
    unit.bias.fill_((low + high) / 2)
