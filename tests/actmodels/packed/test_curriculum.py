"""Shallow pairs first: which pairs an epoch has."""

from collections import Counter
from dataclasses import replace

import pytest
import torch

from actmodels.data.curriculum import epoch_pairs
from actmodels.data.pairs import PairTensors
from actmodels.packed.training import PackTraining
from actmodels.training import Training
from tests.samples import sample_data, sample_pairs, sample_trial

DEPTHS = torch.tensor([3, 1, 2, 1, 3, 2, 3])


def pairs() -> PairTensors:
    return replace(sample_pairs(len(DEPTHS)), depths=DEPTHS)


def rows(split: PairTensors) -> list[tuple[list[int], list[int], int, int]]:
    """The sentences of each pair, its label and depth."""
    premises = split.premise_ids.split(split.premise_offsets.diff().tolist())
    hypotheses = split.hypothesis_ids.split(split.hypothesis_offsets.diff().tolist())
    return [
        (premise.tolist(), hypothesis.tolist(), int(label), int(depth))
        for premise, hypothesis, label, depth in zip(
            premises, hypotheses, split.labels, split.depths, strict=True
        )
    ]


def test_take_is_the_rows_one_after_the_other() -> None:
    every = rows(pairs())
    assert rows(pairs().take(torch.tensor([4, 0, 4]))) == [every[4], every[0], every[4]]


@pytest.mark.parametrize(
    ("epoch", "depths"),
    [(1, {1: 7}), (2, {1: 7}), (3, {1: 2, 2: 5}), (4, {1: 2, 2: 5}), (5, {1: 2, 2: 2, 3: 3})],
)
def test_depths_join_every_two_epochs_and_an_epoch_has_as_many_pairs(
    epoch: int, depths: dict[int, int]
) -> None:
    found = rows(epoch_pairs(pairs(), 2, epoch))
    assert Counter(depth for *_, depth in found) == depths
    assert all(row in rows(pairs()) for row in found)


def test_all_at_once_is_the_split_itself() -> None:
    split = pairs()
    assert epoch_pairs(split, 0, 1) is split
    assert epoch_pairs(split, 1, 3) is split


def test_alone_and_in_a_pack_and_resumed() -> None:
    data = sample_data()
    depths = torch.arange(len(data.train)) % 3 + 1
    data = replace(data, train=replace(data.train, depths=depths))
    configs = [
        sample_trial("iterative_attention", depth_epochs=1, seed=seed, max_epochs=4)
        for seed in (1, 2)
    ]
    alone = []
    for config in configs:
        first, second = Training(config, data), Training(config, data)
        first.run_epoch()
        second.load_state_dict(first.state_dict())
        alone.append([record.train_loss for record in second.epochs()][-3:])
    pack = PackTraining(configs, data)
    while not pack.finished:
        pack.run_epoch()
    for member, losses in zip(pack.members, alone, strict=True):
        found = [record.train_loss for record in member.history][1:]
        torch.testing.assert_close(found, losses, rtol=1e-4, atol=0)
