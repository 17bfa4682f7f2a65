"""The work is as long as SNLI's, the same every time, and takes the steps of a trained model."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from actmodels.data.pairs import batches_by_length, collate
from actmodels.errors import ArtefactError
from bench.plan import QUICK, data_of
from bench.training import executed_flops
from bench.ways import Pack, mean_steps, single
from bench.work import (
    PAPER,
    TINY,
    drawn_data,
    drawn_pairs,
    sampled_batches,
    set_steps,
    shuffled_batches,
    states_of,
    trial,
)
from tests.samples import save_sample_data


def test_lengths_are_those_of_snli() -> None:
    pairs = drawn_pairs(50_000, 200)
    premise, hypothesis = pairs.premise_offsets.diff(), pairs.hypothesis_offsets.diff()
    assert premise.double().mean() == pytest.approx(14.1, rel=0.02)
    assert premise.double().std() == pytest.approx(6.0, rel=0.03)
    assert hypothesis.double().mean() == pytest.approx(7.8, rel=0.02)
    assert hypothesis.double().std() == pytest.approx(3.0, rel=0.03)
    assert min(premise.min(), hypothesis.min()) >= 1


def test_the_same_work_every_time() -> None:
    one, other = drawn_data(TINY), drawn_data(TINY)
    for name, tensor in vars(one.train).items():
        same = getattr(other.train, name)
        assert same is tensor is None or torch.equal(tensor, same), name
    assert torch.equal(one.words.vectors, other.words.vectors)


def test_sampled_batches_are_some_of_an_epochs_and_have_its_mean_length() -> None:
    pairs = drawn_pairs(20_000, 200)
    chosen = sampled_batches(pairs, 16, 20)
    epoch = {tuple(batch.tolist()) for batch in batches_by_length(pairs, 16)}
    assert len({tuple(batch.tolist()) for batch in chosen} & epoch) == 20
    rows = torch.cat(chosen)
    for offsets in (pairs.premise_offsets, pairs.hypothesis_offsets):
        lengths = offsets.diff().double()
        assert lengths[rows].mean() == pytest.approx(float(lengths.mean()), rel=0.03)


def test_shuffled_batches_hold_the_same_pairs_in_other_batches() -> None:
    chosen = sampled_batches(drawn_data(TINY).train, 16, 10)
    mixed = shuffled_batches(chosen)
    assert [len(batch) for batch in mixed] == [16] * 10
    assert torch.equal(torch.cat(mixed).sort().values, torch.cat(chosen).sort().values)
    assert not torch.equal(mixed[0].sort().values, chosen[0].sort().values)


@pytest.mark.parametrize(("mean", "sd"), [(5.1, 1.4), (2.5, 0.7), (9.0, 2.5)])
def test_halting_is_set_to_the_steps_wanted(mean: float, sd: float) -> None:
    data = drawn_data(TINY)
    batches = sampled_batches(data.train, 32, 8)
    model = single(TINY.width, data, batches).model.eval()
    set_steps(model, states_of(model, data.train, batches), mean, sd)
    taken = [model(collate(data.train, index, null_token=False)).steps for index in batches]
    steps = torch.cat(taken)
    assert steps.mean() == pytest.approx(mean, abs=0.1)
    assert steps.std() == pytest.approx(sd, rel=0.15)


def test_the_timed_model_is_the_papers() -> None:
    config = trial(PAPER.width, 8)
    assert (config.network.width, config.training.batch_size) == (200, 8)
    assert config.training.learning_rate == 1e-6


def test_the_trials_of_a_pack_take_the_steps_of_a_single_one_in_the_mean() -> None:
    for trials in (2, 8, 48):
        means = mean_steps(trials)
        assert sum(means) / trials == pytest.approx(5.1)
        assert means == sorted(means, reverse=True)
        assert min(means) >= 2 and max(means) <= 8.2
    data = drawn_data(TINY)
    batches = sampled_batches(data.train, 8, 4)
    pack = Pack(TINY.width, data, batches, 2)
    assert pack.run() == pack.run() == 2 * 4 * 8


def test_products_are_counted() -> None:
    matrix = torch.ones(3, 5)
    assert executed_flops(lambda: matrix @ matrix.T) == 2 * 3 * 5 * 3


def test_stored_tensors_take_the_place_of_drawn_ones(tmp_path: Path) -> None:
    save_sample_data(tmp_path)
    assert len(data_of(replace(QUICK, tensors=tmp_path)).train) == 48
    with pytest.raises(ArtefactError, match=r"train\.pt"):
        data_of(replace(QUICK, tensors=tmp_path / "absent"))
