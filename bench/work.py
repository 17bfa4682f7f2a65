"""The work that is timed: trials of the paper's size on sentences as long as SNLI's.

Nothing is read unless tensors are given: lengths, words and vectors are drawn by a seed, and the
same arguments give the same work on every machine.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from actmodels.config import TrialConfig, build_trial, setting_types
from actmodels.data.labels import LABELS
from actmodels.data.pairs import FIRST_WORD, PairTensors, batches_by_length, collate
from actmodels.data.trial_data import TrialData, WordVectors
from actmodels.halting.act import Act
from actmodels.halting.distribution import until as act
from actmodels.models.alternating import AlternatingAttention
from actmodels.models.pair_model import PairModel

# Tokens of SNLI's sentences: mean, standard deviation, longest.
PREMISE, HYPOTHESIS = (14.1, 6.0, 82), (7.8, 3.0, 62)
WORDS = 37_000  # of SNLI's training pairs that have a vector
STARTS = 40  # of systematic samples that are compared
VECTOR_STD = 0.35  # vectors of length 6, as GloVe's are
# Steps of a trained trial, about: what the prototype was measured with. The halting units of an
# untrained model are set so that it takes as many.
MEAN, SD = 5.1, 1.4
EXAMPLES = 256  # that the steps are set on, or all there are
COARSE = [2.0**power for power in range(-2, 13)]  # scales of the halting weights
FINE = [2.0 ** (power / 8) for power in range(-7, 8)]  # and factors of the best of them
HALVINGS = 20


@dataclass(frozen=True)
class Sizes:
    """How large the data and the model are; `width` is also that of its state and its gates."""

    pairs: int
    words: int
    dimensions: int
    width: int


PAPER = Sizes(549_367, WORDS, 300, 200)
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
    given = SETTINGS | shape | {"batch_size": batch_size} | settings
    own = {name: given[name] for name in setting_types(model)}
    return build_trial(model, own, max_epochs=max_epochs, patience=0, seed=seed)


def drawn_pairs(count: int, words: int, seed: int = 2016) -> PairTensors:
    """Pairs with SNLI's lengths, words by Zipf's law, labels by lot."""
    generator = torch.Generator().manual_seed(seed)
    premises = _sentences(_lengths(count, *PREMISE, generator), words, generator)
    hypotheses = _sentences(_lengths(count, *HYPOTHESIS, generator), words, generator)
    labels = torch.randint(len(LABELS), (count,), generator=generator)
    return PairTensors(*premises, *hypotheses, labels, torch.zeros_like(labels))


def drawn_data(sizes: Sizes) -> TrialData:
    """Drawn pairs, and a drawn vector for each word."""
    pairs, generator = drawn_pairs(sizes.pairs, sizes.words), torch.Generator().manual_seed(1)
    vectors = torch.randn(sizes.words, sizes.dimensions, generator=generator) * VECTOR_STD
    known = torch.ones(sizes.words, dtype=torch.bool)
    words = WordVectors(vectors, known, torch.arange(sizes.words), known)
    return TrialData(train=pairs, dev=pairs, words=words)


def _lengths(
    count: int, mean: float, sd: float, longest: int, generator: torch.Generator
) -> Tensor:
    """Log-normal lengths of this mean and standard deviation."""
    variance = math.log(1 + (sd / mean) ** 2)
    normal = torch.randn(count, generator=generator)
    lengths = torch.exp(math.log(mean) - variance / 2 + math.sqrt(variance) * normal)
    return lengths.round().long().clamp(1, longest)


def _sentences(lengths: Tensor, words: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Token ids end to end, and where each sentence starts."""
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
    cumulative = (1 / torch.arange(1, words + 1, dtype=torch.float64)).cumsum(0)
    drawn = torch.rand(int(offsets[-1]), generator=generator, dtype=torch.float64)
    ranks = torch.searchsorted(cumulative, drawn * cumulative[-1])
    return (FIRST_WORD + ranks.clamp(max=words - 1)).int(), offsets


def sampled_batches(pairs: PairTensors, batch_size: int, count: int) -> list[Tensor]:
    """`count` batches out of an epoch of batches by length, as the product forms them.

    They stand at even distances in the order of length, from the start that brings their mean
    lengths nearest to those of all pairs; they come shuffled, as in training.
    """
    epoch = torch.cat(list(batches_by_length(pairs, batch_size)))
    batches = epoch[: len(pairs) // batch_size * batch_size].view(-1, batch_size)
    lengths = torch.stack([pairs.premise_offsets.diff(), pairs.hypothesis_offsets.diff()]).double()
    off = lengths[:, batches].mean(dim=2) / lengths.mean(dim=1, keepdim=True) - 1  # [2, batches]
    starts = (torch.arange(STARTS) + 0.5) / STARTS
    choices = ((starts[:, None] + torch.arange(count)) * (len(batches) / count)).long()
    best = off[:, choices].mean(dim=-1).abs().sum(dim=0).argmin()
    order = torch.randperm(count, generator=torch.Generator().manual_seed(1))
    return list(batches[choices[best][order]])


def shuffled_batches(batches: Sequence[Tensor]) -> list[Tensor]:
    """The same pairs in batches of the same size, whatever their lengths."""
    rows = torch.cat(list(batches))
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(2))
    return list(rows[order].split(len(batches[0])))


@torch.no_grad()
def states_of(
    model: PairModel, pairs: PairTensors, batches: Sequence[Tensor], device: str = "cpu"
) -> Tensor:
    """States to the cap of the first examples [examples, steps, state]."""
    assert isinstance(model, AlternatingAttention)
    states = []
    for index in batches[: -(-EXAMPLES // len(batches[0]))]:
        batch = collate(pairs, index, null_token=False, device=device)
        states.append(model.unroll(batch, model.halting.max_steps, until_halted=False).states)
    return torch.cat(states)


@torch.no_grad()
def set_steps(
    model: PairModel, states: Tensor, mean: float, sd: float, direction: Tensor | None = None
) -> None:
    """Scale the halting weights and choose the bias for a mean and a spread of N.

    The mean is met, the standard deviation as nearly as the states allow.

    Args:
        states: the model's own, from `states_of`.
        direction: halting weights to scale [state], in place of the model's own.
    """
    assert isinstance(model, AlternatingAttention) and isinstance(model.halting, Act)
    unit, epsilon = model.halting.unit.linear, model.halting.epsilon
    weights = unit.weight[0] if direction is None else direction
    scores = states @ weights  # [examples, steps]

    def tried(scale: float) -> tuple[float, float, float]:
        """How far off the standard deviation is; the scale; the bias that gives the mean."""
        bias = _bias(scores * scale, epsilon, mean)
        steps = act(torch.sigmoid(scores * scale + bias), epsilon).steps
        return abs(float(steps.std(correction=0)) - sd), scale, bias

    _, coarse, _ = min(map(tried, COARSE))
    _, scale, bias = min(tried(coarse * factor) for factor in FINE)
    unit.weight.copy_(scale * weights)
    unit.bias.fill_(bias)


def _bias(scores: Tensor, epsilon: float | Tensor, mean: float) -> float:
    """The bias that gives a mean number of steps, which falls as the bias rises."""
    low, high = -float(scores.max()) - 10.0, -float(scores.min()) + 10.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        steps = act(torch.sigmoid(scores + middle), epsilon).steps
        low, high = (middle, high) if float(steps.mean()) > mean else (low, middle)
    return (low + high) / 2
