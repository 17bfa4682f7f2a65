"""Data of a trial on sentence pairs: splits, word vectors and training subset."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor

from actmodels.configs import InputConfig
from actmodels.data.pairs import FIRST_WORD, NULL, PAD, PairTensors, StoredTensors
from actmodels.seeding import generator
from actmodels.trial_config import TrialConfig


@dataclass(frozen=True)
class WordVectors(StoredTensors):
    """Pre-trained vectors of the vocabulary."""

    what = "a table of word vectors"

    vectors: Tensor  # float32 [words, dimensions]; zero for a word without one
    found: Tensor  # whether a word has a pre-trained vector, bool [words]
    word_hash: Tensor  # hash of the spelling, int64 [words], for the OOV rule `hashed`
    in_train: Tensor  # whether it is in a training pair, bool [words], for the OOV rule `trained`


def input_vectors(words: WordVectors, config: InputConfig, seed: int) -> Tensor:
    """Return the word vectors by token id [FIRST_WORD + words, dimensions]; see InputConfig.

    Random vectors are N(0, oov_std²) (paper appendix D), drawn from the trial's seed, so replicates
    differ. The padding is zero.
    """
    draws = generator("word rows", seed)
    dimensions = words.vectors.shape[1]

    def random_vectors(number: int) -> Tensor:
        return torch.randn(number, dimensions, generator=draws) * config.oov_std

    special = random_vectors(FIRST_WORD)
    special[PAD] = 0.0
    vectors = words.vectors
    if config.mean_norm > 0:
        vectors = vectors * (config.mean_norm / vectors[words.found].norm(dim=1).mean())
    table = torch.cat([special, vectors])
    missing = (~words.found).nonzero().squeeze(1)
    if config.oov_rule == "hashed":
        buckets = random_vectors(config.oov_buckets)
        table[FIRST_WORD + missing] = buckets[words.word_hash[missing] % config.oov_buckets]
    else:
        table[FIRST_WORD + missing] = random_vectors(len(missing))
    return torch.nn.functional.normalize(table, dim=1) if config.unit_norm else table


def trained_words(words: WordVectors, config: InputConfig) -> Tensor:
    """Return the token ids with trained vectors [words], by the OOV rule.

    `trained`: NULL and the words of training pairs without a pre-trained vector (Rocktäschel et al.
    2016). `all_trained`: NULL and all words of training pairs. Vectors of unknown words, and of
    words only in dev or test, are not trained.
    """
    if config.oov_rule not in ("trained", "all_trained"):
        return torch.empty(0, dtype=torch.int64)
    frozen = words.found if config.oov_rule == "trained" else torch.zeros_like(words.found)
    return torch.cat(
        [torch.tensor([NULL]), FIRST_WORD + (words.in_train & ~frozen).nonzero()[:, 0]]
    )


def premise_groups(pairs: PairTensors) -> Tensor:
    """Number the distinct premises, by pair [pairs]."""
    ids, numbers = pairs.premise_ids.numpy(), dict[bytes, int]()
    bounds = pairwise(pairs.premise_offsets.tolist())
    groups = [numbers.setdefault(ids[a:b].tobytes(), len(numbers)) for a, b in bounds]
    return torch.tensor(groups, dtype=torch.int64)


def subset(pairs: PairTensors, count: int) -> PairTensors:
    """Return `count` pairs of randomly drawn premises, in the order of the split; 0: all pairs.

    Premises keep all their pairs (except the last premise), as in a smaller corpus: pairs drawn
    individually would cover more premises. A subset contains every smaller one.
    """
    if count == 0 or count >= len(pairs):
        return pairs
    groups = premise_groups(pairs)
    ranks = torch.randperm(int(groups.max()) + 1, generator=generator("training subset"))
    first = torch.argsort(ranks[groups], stable=True)[:count]
    return pairs.take(first.sort().values)


@dataclass(frozen=True)
class TrialData:
    """The splits for training and model selection, and word vectors; never the test split."""

    train: PairTensors
    dev: PairTensors
    words: WordVectors


def trial_data(config: TrialConfig, folder: Path, text: Path | None = None) -> TrialData:
    """Read the artifacts of the stage `tensors`; ArtifactError if one is missing or corrupt."""
    train, dev = (PairTensors.load(folder / f"{split}.pt") for split in ("train", "dev"))
    return TrialData(train, dev, WordVectors.load(folder / "embedding.pt"))
