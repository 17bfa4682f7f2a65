"""The work that is timed: trials of the paper's size on sentences as long as SNLI's.

All data are drawn by a seed: the same arguments give the same work on every machine.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from actmodels.configs import LABELS
from actmodels.data.pairs import FIRST_WORD, PairTensors, batches_by_length, collate
from actmodels.data.trial_data import TrialData, WordVectors
from actmodels.fused.optimizer import FusedOptimizer
from actmodels.fused.stack import stack
from actmodels.fused.training import FusedTraining
from actmodels.halting.act import Act
from actmodels.halting.base import truncate
from actmodels.models.alternating import AlternatingAttention
from actmodels.models.pair_model import PairModel
from actmodels.trial_config import TrialConfig, build_trial, setting_types

# Tokens of SNLI's sentences: mean, standard deviation, longest.
PREMISE, HYPOTHESIS = (14.1, 6.0, 82), (7.8, 3.0, 62)
VECTOR_STD = 0.35  # vectors of length 6, as GloVe's are
MEAN_STEPS = 5.1  # of a trained trial, about
REACH = (
    3.1  # the slowest trials of a fusion take so many steps more than the mean, the fastest less
)
SHARPNESS = 6.0  # times the initial halting weights: steps vary by 1.4, as a trained trial's do
EXAMPLES = 256  # on which the steps are set
HALVINGS = 20


@dataclass(frozen=True)
class Sizes:
    """How large the data and the model are; `width` is also that of its state and its gates."""

    pairs: int
    words: int
    dimensions: int
    width: int


PAPER = Sizes(549_367, 37_000, 300, 200)  # words: of SNLI's training pairs that have a vector
TINY = Sizes(1_500, 200, 12, 8)

SETTINGS: dict[str, Any] = {
    "dropout": 0.1,
    "epsilon": 0.01,
    "ponder_weight": 0.001,
    "max_steps": 20,
    "halting_bias": -1.0,  # replaced by `set_steps`
    "optimizer": "adagrad",
    "learning_rate": 1e-6,  # so small that step counts stay put while the clock runs
    "final_rate": 1.0,
    "adagrad_accumulator": 0.1,
    "clip_value": 0.0,
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
    """A trial; `settings` replace single ones, and those that the model lacks are left out."""
    shape = dict.fromkeys(("width", "state_size", "gate_size"), width)
    merged = {**SETTINGS, **shape, "batch_size": batch_size, **settings}
    own = {name: merged[name] for name in setting_types(model)}
    return build_trial(model, own, max_epochs=max_epochs, patience=0, seed=seed)


@functools.cache
def drawn_data(sizes: Sizes) -> TrialData:
    """Pairs with SNLI's lengths, words by Zipf's law, random labels, and a vector for each word."""
    draws = torch.Generator().manual_seed(2016)
    lengths = [_lengths(sizes.pairs, *of, draws) for of in (PREMISE, HYPOTHESIS)]
    premise, hypothesis = (_sentences(each, sizes.words, draws) for each in lengths)
    labels = torch.randint(len(LABELS), (sizes.pairs,), generator=draws)
    pairs = PairTensors(*premise, *hypothesis, labels, torch.zeros_like(labels))
    vectors = torch.randn(sizes.words, sizes.dimensions, generator=draws) * VECTOR_STD
    known = torch.ones(sizes.words, dtype=torch.bool)
    return TrialData(pairs, pairs, WordVectors(vectors, known, torch.arange(sizes.words), known))


def _lengths(count: int, mean: float, sd: float, longest: int, draws: torch.Generator) -> Tensor:
    """Log-normal lengths of this mean and standard deviation."""
    variance = math.log(1 + (sd / mean) ** 2)
    normal = torch.randn(count, generator=draws)
    lengths = torch.exp(math.log(mean) - variance / 2 + math.sqrt(variance) * normal)
    return lengths.round().long().clamp(1, longest)


def _sentences(lengths: Tensor, words: int, draws: torch.Generator) -> tuple[Tensor, Tensor]:
    """Token ids end to end, and where each sentence starts."""
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
    cumulative = (1 / torch.arange(1, words + 1, dtype=torch.float64)).cumsum(0)
    drawn = torch.rand(int(offsets[-1]), generator=draws, dtype=torch.float64)
    ranks = torch.searchsorted(cumulative, drawn * cumulative[-1])
    return (FIRST_WORD + ranks.clamp(max=words - 1)).int(), offsets


def sampled(data: TrialData, batch_size: int, count: int) -> TrialData:
    """Data that training takes in `count` batches at even distances in length order."""
    epoch = list(batches_by_length(data.train, batch_size))
    chosen = ((torch.arange(count) + 0.5) * (len(epoch) / count)).long().tolist()
    pairs = data.train.take(torch.cat([epoch[number] for number in chosen]))
    return TrialData(pairs, pairs, data.words)


def begun(
    width: int, batch_size: int, data: TrialData, trials: int = 1, device: str = "cpu"
) -> FusedTraining:
    """Trials of one seed that take MEAN_STEPS in the mean, each its own number, as in a grid."""
    fusion = FusedTraining([trial(width, batch_size)] * trials, data, device)
    for number, member in enumerate(fusion.members):
        apart = REACH * (1 - (2 * number + 1) / trials)
        set_steps(member.model, data.train, MEAN_STEPS + apart)
    return fusion


def epoch_of(fusion: FusedTraining) -> Callable[[], object]:
    """What trains an epoch whenever it is called, a single trial by the loop for one."""
    members = fusion.members
    if len(members) == 1:
        return members[0].train_epoch
    model, configs = stack([each.model for each in members]), [each.config for each in members]
    optimizer = FusedOptimizer(model, configs, [each.optimizer.state_dict() for each in members])
    return partial(fusion.train_epoch, model, optimizer, members)


@torch.no_grad()
def set_steps(model: PairModel, pairs: PairTensors, mean: float) -> None:
    """Sharpen the halting unit and set its bias, so that N has this mean on the first pairs."""
    assert isinstance(model, AlternatingAttention) and isinstance(model.halting, Act)
    unit, halting = model.halting.unit.linear, model.halting
    assert isinstance(halting.epsilon, float)
    unit.weight *= SHARPNESS
    index = torch.arange(len(pairs))[:: max(len(pairs) // EXAMPLES, 1)]
    batch = collate(pairs, index, null_token=False, device=unit.weight.device)
    scores = model.unroll(batch, halting.max_steps, until_halted=False).states @ unit.weight[0]
    low, high = -float(scores.max()) - 10.0, -float(scores.min()) + 10.0
    for _ in range(HALVINGS):  # the number of steps falls as the bias rises
        middle = (low + high) / 2
        steps = truncate(torch.sigmoid(scores + middle), halting.epsilon).steps
        low, high = (middle, high) if float(steps.mean()) > mean else (low, middle)
    unit.bias.fill_((low + high) / 2)
