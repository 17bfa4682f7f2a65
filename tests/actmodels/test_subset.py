"""Parts of the training pairs: nested, of whole premises, the same for every trial."""

from itertools import pairwise

import pytest
import torch

from actmodels.data.pairs import PairTensors
from actmodels.data.subset import premise_groups, subset
from actmodels.training import Training
from tests.samples import sample_data, sample_trial


def pairs(premises: int) -> PairTensors:
    """Three hypotheses to each premise; a hypothesis is one word, and no two are alike."""
    count = 3 * premises
    offsets, ids = torch.arange(count + 1), torch.arange(count, dtype=torch.int32)
    return PairTensors(ids // 3, offsets, ids, offsets, ids.long() % 3, torch.zeros(count).long())


def test_pairs_share_a_premise_by_its_words() -> None:
    offsets = torch.tensor([0, 2, 3, 5, 6])
    ids = torch.tensor([4, 5, 4, 4, 5, 5], dtype=torch.int32)  # [4 5] [4] [4 5] [5]
    some = torch.zeros(4, dtype=torch.int64)
    split = PairTensors(ids, offsets, ids, offsets, some, some)
    assert premise_groups(split).tolist() == [0, 1, 0, 2]


def test_a_subset_lies_within_a_larger_one_in_the_order_of_the_split() -> None:
    found = [subset(pairs(40), n).hypothesis_ids.tolist() for n in (5, 20, 60, 119)]
    assert [len(ids) for ids in found] == [5, 20, 60, 119]
    assert all(ids == sorted(ids) for ids in found)
    for smaller, larger in pairwise(found):
        assert set(smaller) < set(larger)


def test_premises_keep_their_pairs_but_for_the_last() -> None:
    premises = subset(pairs(40), 20).premise_ids.tolist()
    counts = sorted(premises.count(one) for one in set(premises))
    assert counts == [2, 3, 3, 3, 3, 3, 3]
    assert set(premises) != set(range(7))  # drawn, and not the first ones


@pytest.mark.parametrize("count", [0, 120, 121])
def test_the_whole_is_the_split_itself(count: int) -> None:
    split = pairs(40)
    assert subset(split, count) is split


def test_a_trial_trains_on_its_part_whatever_its_seed() -> None:
    data, seen = sample_data(), []
    for seed in (1, 2):
        config = sample_trial("decomposable_attention", train_pairs=16, seed=seed)
        training = Training(config, data)
        batches = list(training.batches(training.epoch_generator))
        assert sum(len(batch.labels) for batch in batches) == 16
        seen.append(sorted(tuple(row) for batch in batches for row in batch.hypothesis.tolist()))
        assert len(training.evaluated()) and len(training.data.train) == 48
    assert seen[0] == seen[1]
