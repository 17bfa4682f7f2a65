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

from actmodels.config import TrialConfig, build_trial
from actmodels.data.batching import batches_by_length
from actmodels.data.embeddings import WordVectors
from actmodels.data.labels import LABELS
from actmodels.data.pairs import FIRST_WORD, PairTensors
from actmodels.data.trial_data import TrialData

# Tokens of SNLI's sentences: mean, standard deviation, longest.
PREMISE, HYPOTHESIS = (14.1, 6.0, 82), (7.8, 3.0, 62)
CORRELATION = 0.2  # of the two lengths' logarithms: long premises have slightly longer hypotheses
WORDS = 37_000  # of SNLI's training pairs that have a vector
VECTOR_STD = 0.35  # vectors of length 6, as GloVe's are


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
    "halting_bias": -1.0,  # replaced by pipeline.benchmark.steps
    "optimizer": "adagrad",
    "learning_rate": 1e-6,  # so small that step counts stay put while the clock runs
    "adagrad_accumulator": 0.1,
    "clip_norm": 5.0,
    "init": "xavier",
    "init_std": 0.01,
    "oov_rule": "own",
    "oov_buckets": 100,
    "oov_std": 0.01,
    "unit_norm": False,
    "null_token": False,
}


def trial(width: int, batch_size: int, *, max_epochs: int = 1, seed: int = 1) -> TrialConfig:
    """An Adaptive Attention trial."""
    shape = dict.fromkeys(("width", "state_size", "gate_size"), width)
    given = SETTINGS | shape | {"batch_size": batch_size}
    return build_trial("adaptive_attention", given, max_epochs=max_epochs, patience=0, seed=seed)


def drawn_pairs(count: int, words: int, seed: int = 2016) -> PairTensors:
    """Pairs with SNLI's lengths, words by Zipf's law, labels by lot."""
    generator = torch.Generator().manual_seed(seed)
    premise = torch.randn(count, generator=generator)
    other = torch.randn(count, generator=generator)
    hypothesis = CORRELATION * premise + math.sqrt(1 - CORRELATION**2) * other
    premises = _sentences(_lengths(premise, *PREMISE), words, generator)
    hypotheses = _sentences(_lengths(hypothesis, *HYPOTHESIS), words, generator)
    labels = torch.randint(len(LABELS), (count,), generator=generator)
    return PairTensors(*premises, *hypotheses, labels, torch.zeros_like(labels))


def drawn_data(sizes: Sizes) -> TrialData:
    """Drawn pairs, and a drawn vector for each word."""
    pairs, generator = drawn_pairs(sizes.pairs, sizes.words), torch.Generator().manual_seed(1)
    vectors = torch.randn(sizes.words, sizes.dimensions, generator=generator) * VECTOR_STD
    known = torch.ones(sizes.words, dtype=torch.bool)
    words = WordVectors(vectors, known, torch.arange(sizes.words), known)
    return TrialData(train=pairs, dev=pairs, words=words)


def _lengths(normal: Tensor, mean: float, sd: float, longest: int) -> Tensor:
    """Log-normal lengths of this mean and standard deviation, from standard normal numbers."""
    variance = math.log(1 + (sd / mean) ** 2)
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

    They stand at even distances in the order of length, each in the middle of its share, and come
    shuffled, as in training.
    """
    epoch = torch.cat(list(batches_by_length(pairs, batch_size)))
    batches = epoch[: len(pairs) // batch_size * batch_size].view(-1, batch_size)
    order = torch.randperm(count, generator=torch.Generator().manual_seed(1)).tolist()
    return [batches[(2 * number + 1) * len(batches) // (2 * count)] for number in order]


def shuffled_batches(batches: Sequence[Tensor]) -> list[Tensor]:
    """The same pairs in batches of the same size, whatever their lengths."""
    rows = torch.cat(list(batches))
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(2))
    return list(rows[order].split(len(batches[0])))
