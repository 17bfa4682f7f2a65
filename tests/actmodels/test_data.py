"""Batches, word vectors and training subsets."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from actmodels.data.pairs import (
    FIRST_WORD,
    NULL,
    PAD,
    PairTensors,
    batches_by_length,
    collate,
)
from actmodels.data.trial_data import WordVectors, input_vectors, subset
from actmodels.errors import ArtifactError
from actmodels.training import Training
from actmodels.trial_config import InputConfig
from studies.cloze.data import ClozeVectors, QuestionTensors
from tests.samples import CLASSES, sample_data, sample_pairs, sample_trial, sample_words
from tests.studies.cloze.samples import questions


def hand_pairs() -> PairTensors:
    """("3 4", "5") neutral; ("6", "7 8 9") contradiction."""
    parts = ([3, 4, 6], [0, 2, 3], [5, 7, 8, 9], [0, 1, 4], [0, 2], [0, 0])
    return PairTensors(*(torch.tensor(part) for part in parts), CLASSES)


def test_a_batch_by_hand() -> None:
    """The null token comes first and is not masked."""
    batch = collate(hand_pairs(), torch.tensor([1, 0]), null_token=False)
    assert batch.premise.tolist() == [[6, PAD], [3, 4]]
    assert batch.premise_mask.tolist() == [[True, False], [True, True]]
    assert batch.hypothesis.tolist() == [[7, 8, 9], [5, PAD, PAD]]
    assert batch.labels.tolist() == [2, 0]
    batch = collate(hand_pairs(), torch.tensor([1, 0]), null_token=True)
    assert batch.premise.tolist() == [[NULL, 6, PAD], [NULL, 3, 4]]
    assert batch.premise_mask.tolist() == [[True, True, False], [True, True, True]]


@pytest.mark.parametrize("split", [sample_pairs(20), questions(5)], ids=["pairs", "questions"])
def test_a_saved_split_loads_and_repeats_to_the_byte(split: Any, tmp_path: Path) -> None:
    split.save(tmp_path / "a.pt")
    split.save(tmp_path / "b.pt")
    assert (tmp_path / "a.pt").read_bytes() == (tmp_path / "b.pt").read_bytes()
    loaded = type(split).load(tmp_path / "a.pt")
    for name, value in vars(split).items():
        stored = getattr(loaded, name)
        assert torch.equal(value, stored) if isinstance(value, torch.Tensor) else value == stored


@pytest.mark.parametrize(
    ("kind", "what", "stage"),
    [
        (PairTensors, "a split of sentence pairs", "tensors"),
        (WordVectors, "a table of word vectors", "tensors"),
        (QuestionTensors, "a split of cloze questions", "study@cloze"),
        (ClozeVectors, "a vocabulary's vectors", "study@cloze"),
    ],
)
def test_missing_and_corrupt_files_are_reported(
    kind: Any, what: str, stage: str, tmp_path: Path
) -> None:
    path = tmp_path / "dev.pt"
    with pytest.raises(ArtifactError, match=rf"dev\.pt is missing; .*dvc repro {stage}"):
        kind.load(path)
    for content in (b"nonsense", b"\x80\x02."):
        path.write_bytes(content)
        with pytest.raises(ArtifactError, match=rf"dev\.pt is not {what} .*dvc repro -f {stage}"):
            kind.load(path)


def rows(
    rule: str, *, mean_norm: float = 0.0, unit_norm: bool = False, seed: int = 1
) -> torch.Tensor:
    config = InputConfig(rule, 5, 0.01, mean_norm, unit_norm, False)  # type: ignore[arg-type]
    return input_vectors(sample_words(), config, seed)


def test_oov_rules() -> None:
    words = sample_words()
    missing = (~words.found).nonzero().squeeze(1)
    own, hashed = (rows(rule)[FIRST_WORD + missing] for rule in ("own", "hashed"))
    assert len(own.unique(dim=0)) == len(missing)
    buckets = words.word_hash[missing] % 5
    for one, row in zip(buckets.tolist(), hashed, strict=True):
        assert all(torch.equal(row, hashed[i]) for i in (buckets == one).nonzero().squeeze(1))
    assert len(hashed.unique(dim=0)) == len(buckets.unique())
    assert 0.005 < own.std() < 0.02  # N(0, oov_std)


@pytest.mark.parametrize("rule", ["own", "hashed"])
def test_found_vectors_are_scaled_by_one_factor(rule: str) -> None:
    """Random vectors are not scaled and do not count in the mean."""
    found = torch.cat([torch.zeros(FIRST_WORD, dtype=torch.bool), sample_words().found])
    plain, scaled = rows(rule), rows(rule, mean_norm=2.5)
    assert torch.equal(scaled[~found], plain[~found])
    assert scaled[found].norm(dim=1).mean() == pytest.approx(2.5, rel=1e-5)
    factors = scaled[found] / plain[found]
    torch.testing.assert_close(factors, factors[0, 0].expand_as(factors))


def test_unit_norm_and_seed() -> None:
    norms = rows("own", unit_norm=True).norm(dim=1)
    torch.testing.assert_close(norms[1:], torch.ones(len(norms) - 1))
    assert norms[PAD] == 0
    assert torch.equal(rows("own"), rows("own"))
    assert not torch.equal(rows("own"), rows("own", seed=2))


def pairs(premises: int) -> PairTensors:
    """Three hypotheses per premise, each a different word."""
    count = 3 * premises
    offsets, ids = torch.arange(count + 1), torch.arange(count, dtype=torch.int32)
    labels, depths = ids.long() % 3, torch.zeros(count).long()
    return PairTensors(ids // 3, offsets, ids, offsets, labels, depths, CLASSES)


@given(premises=st.integers(1, 30), data=st.data())
def test_a_subset_has_whole_premises_and_lies_within_a_larger_one(
    premises: int, data: st.DataObject
) -> None:
    split = pairs(premises)
    sizes = sorted(data.draw(st.sets(st.integers(1, 3 * premises - 1), min_size=1)))
    subsets = [subset(split, size) for size in sizes]
    ids = [one.hypothesis_ids.tolist() for one in subsets]
    assert [len(one) for one in ids] == sizes
    assert all(one == sorted(one) for one in ids)  # in the order of the split
    assert all(set(one) < set(other) for one, other in pairwise(ids))
    for one, size in zip(subsets, sizes, strict=True):
        counts = sorted(one.premise_ids.bincount().tolist(), reverse=True)
        assert counts[: size // 3] == [3] * (size // 3)
    for all_pairs in (0, 3 * premises, 3 * premises + 1):
        assert subset(split, all_pairs) is split


def test_premises_of_a_subset_are_drawn() -> None:
    assert set(subset(pairs(40), 20).premise_ids.tolist()) != set(range(7))


@given(count=st.integers(1, 80), size=st.integers(1, 20), seed=st.none() | st.integers(0, 99))
def test_every_pair_once_in_batches_of_like_length(count: int, size: int, seed: int | None) -> None:
    split = sample_pairs(count, longest=30)
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    batches = list(batches_by_length(split, size, generator))
    assert sorted(torch.cat(batches).tolist()) == list(range(count))
    rest = [count % size] * (count % size > 0)
    assert sorted(len(batch) for batch in batches) == rest + [size] * (count // size)
    lengths = split.premise_offsets.diff()
    spans = [int(lengths[batch].max() - lengths[batch].min()) for batch in batches]
    assert sum(spans) <= 30  # sorted: the spans of all batches together cover the range once


def test_the_training_subset_does_not_depend_on_the_seed() -> None:
    data, seen = sample_data(), []
    for seed in (1, 2):
        config = sample_trial("decomposable_attention", train_pairs=16, seed=seed)
        training = Training(config, data)
        batches = list(training.batches(training.epoch_generator))
        assert sum(len(batch.labels) for batch in batches) == 16
        seen.append(sorted(tuple(row) for batch in batches for row in batch.hypothesis.tolist()))
        assert len(training.dev_metrics()) and len(training.data.train) == 48
    assert seen[0] == seen[1]
