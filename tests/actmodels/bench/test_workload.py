from dataclasses import replace
from pathlib import Path

import pytest
import torch

from actmodels.bench.plan import QUICK
from actmodels.bench.steps import set_steps, unrolled
from actmodels.bench.trials import calibration_batches, prepared
from actmodels.bench.workload import (
    PAPER,
    TINY,
    drawn_data,
    sampled_batches,
    shuffled_batches,
    trial,
)
from actmodels.data.batching import batches_by_length
from actmodels.errors import ArtefactError
from tests.samples import save_sample_data


def test_lengths_are_those_of_snli() -> None:
    pairs = drawn_data(replace(TINY, pairs=50_000)).train
    premise, hypothesis = pairs.premise_offsets.diff(), pairs.hypothesis_offsets.diff()
    assert premise.double().mean() == pytest.approx(14.1, rel=0.02)
    assert premise.double().std() == pytest.approx(6.0, rel=0.03)
    assert hypothesis.double().mean() == pytest.approx(7.8, rel=0.02)
    assert hypothesis.double().std() == pytest.approx(3.0, rel=0.03)
    assert min(premise.min(), hypothesis.min()) >= 1
    assert 0.1 < torch.corrcoef(torch.stack([premise, hypothesis]).double())[0, 1] < 0.3


def test_the_same_work_every_time() -> None:
    one, other = drawn_data(TINY), drawn_data(TINY)
    for name, tensor in vars(one.train).items():
        assert torch.equal(tensor, getattr(other.train, name)), name
    assert torch.equal(one.words.vectors, other.words.vectors)


def test_sampled_batches_are_some_of_an_epochs_and_have_its_mean_length() -> None:
    pairs = drawn_data(replace(TINY, pairs=20_000)).train
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
    data, config = drawn_data(TINY), trial(TINY, 32)
    batches = sampled_batches(data.train, 32, 8)
    training = prepared(config, data, batches)
    model = training.model.eval()
    examples = calibration_batches(config, data, batches)
    set_steps(model, unrolled(model, examples), mean, sd)
    taken = [model(batch).steps for batch in examples]
    steps = torch.cat([found for found in taken if found is not None])
    assert steps.mean() == pytest.approx(mean, abs=0.1)
    assert steps.std() == pytest.approx(sd, rel=0.15)


def test_the_timed_model_is_the_papers() -> None:
    config = trial(PAPER, 8)
    assert (config.network.width, config.training.batch_size) == (200, 8)
    assert config.training.learning_rate == 1e-6


def test_stored_tensors_take_the_place_of_drawn_ones(tmp_path: Path) -> None:
    save_sample_data(tmp_path)
    assert len(replace(QUICK, tensors=tmp_path).data().train) == 48
    with pytest.raises(ArtefactError, match=r"train\.pt"):
        replace(QUICK, tensors=tmp_path / "absent").data()
