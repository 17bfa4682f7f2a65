"""Everything a trial on sentence pairs reads, its input rows, and its share of the pairs."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor

from actmodels.configs import InputConfig
from actmodels.data.pairs import FIRST_WORD, NULL, PAD, PairTensors
from actmodels.data.stored import StoredTensors
from actmodels.seeding import generator
from actmodels.trial_config import TrialConfig


@dataclass(frozen=True)
class WordVectors(StoredTensors):
    """The vectors that the data stages prepared for the vocabulary.

    vectors: float32 [words, dimensions]; zero where there is none.
    found: bool [words], whether the word has a pre-trained vector.
    word_hash: int64 [words], a hash of the spelling, for the `hashed` OOV rule.
    in_train: bool [words], whether the word occurs in a training pair, for the `trained` OOV rule.
    """

    what = "a table of word vectors"

    vectors: Tensor
    found: Tensor
    word_hash: Tensor
    in_train: Tensor


def input_rows(words: WordVectors, config: InputConfig, seed: int) -> Tensor:
    """Build the rows [FIRST_WORD + words, dimensions] that token ids index.

    Random rows are N(0, oov_std) (paper appendix D), drawn by the trial's seed, so that replicates
    differ in them. With mean_norm the pre-trained rows have it in the mean; with unit_norm every
    row but the padding has length 1.
    """
    draws = generator("word rows", seed)
    dimensions = words.vectors.shape[1]

    def random_rows(number: int) -> Tensor:
        return torch.randn(number, dimensions, generator=draws) * config.oov_std

    special = random_rows(FIRST_WORD)
    special[PAD] = 0.0
    vectors = words.vectors
    if config.mean_norm > 0:
        vectors = vectors * (config.mean_norm / vectors[words.found].norm(dim=1).mean())
    rows = torch.cat([special, vectors])
    missing = (~words.found).nonzero().squeeze(1)
    if config.oov_rule in ("own", "trained"):
        rows[FIRST_WORD + missing] = random_rows(len(missing))
    elif config.oov_rule == "hashed":
        buckets = random_rows(config.oov_buckets)
        rows[FIRST_WORD + missing] = buckets[words.word_hash[missing] % config.oov_buckets]
    else:
        rows[FIRST_WORD + missing] = special[1]
    return torch.nn.functional.normalize(rows, dim=1) if config.unit_norm else rows


def trained_rows(words: WordVectors, config: InputConfig) -> Tensor:
    """The token ids whose rows are trained [rows]; none unless the OOV rule is `trained`.

    They are the NULL token and the words of the training pairs that have no vector (Rocktäschel et
    al. 2016). The row of unknown words stays fixed, as do words of dev or test alone.
    """
    if config.oov_rule != "trained":
        return torch.empty(0, dtype=torch.int64)
    missing = (words.in_train & ~words.found).nonzero().squeeze(1)
    return torch.cat([torch.tensor([NULL]), FIRST_WORD + missing])


def premise_groups(pairs: PairTensors) -> Tensor:
    """Which pairs share a premise, as a number for each [pairs]."""
    ids, numbers = pairs.premise_ids.numpy(), dict[bytes, int]()
    places = pairwise(pairs.premise_offsets.tolist())
    found = [numbers.setdefault(ids[a:b].tobytes(), len(numbers)) for a, b in places]
    return torch.tensor(found, dtype=torch.int64)


def subset(pairs: PairTensors, count: int) -> PairTensors:
    """The first pairs of one draw of premises, in the order of the split; all with count 0.

    A premise is drawn with all its pairs but for the last, as if fewer were collected: pairs drawn
    one by one would cover more premises.
    """
    if count == 0 or count >= len(pairs):
        return pairs
    groups = premise_groups(pairs)
    places = torch.randperm(int(groups.max()) + 1, generator=generator("training subset"))
    first = torch.argsort(places[groups], stable=True)[:count]
    return pairs.take(first.sort().values)


@dataclass(frozen=True)
class TrialData:
    """The splits that training may see, and the vocabulary's vectors. Never the test split."""

    train: PairTensors
    dev: PairTensors
    words: WordVectors

    @classmethod
    def load(cls, folder: Path) -> "TrialData":
        """Read the artifacts of the `tensors` stage; ArtifactError if one is missing or damaged."""
        train, dev = (PairTensors.load(folder / f"{split}.pt") for split in ("train", "dev"))
        return cls(train, dev, WordVectors.load(folder / "embedding.pt"))


def trial_data(config: TrialConfig, folder: Path, text: Path | None = None) -> TrialData:
    """What a trial is trained on; see actmodels.trial_types."""
    return TrialData.load(folder)
