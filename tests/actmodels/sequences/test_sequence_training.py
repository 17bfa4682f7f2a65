"""Training on sequences: seeds, records, limits of gradients, and that it learns."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from actmodels.sequences.config import ParityConfig
from actmodels.sequences.training import SequenceTraining
from actmodels.settings import FixedStepsConfig
from tests.actmodels.sequences.samples import ACT, DACT, PONDER_NET, TEXT, sample_trial


def train(**changes: Any) -> SequenceTraining:
    return SequenceTraining(sample_trial(**changes), TEXT)


def same_model(one: SequenceTraining, other: SequenceTraining) -> bool:
    states = one.model.state_dict(), other.model.state_dict()
    return all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_seeds() -> None:
    """Every epoch and every seed has other data; the dev set is that of its own seed."""
    first, other = train(seed=1), train(seed=2)
    assert torch.equal(first.dev.inputs, other.dev.inputs)
    assert not same_model(first, other)
    training = replace(sample_trial().training, dev_seed=4)
    assert not torch.equal(train(training=training).dev.inputs, first.dev.inputs)
    drawn = []
    sample = first.task.sample

    def watched(count: int, generator: torch.Generator) -> Any:
        batch = sample(count, generator)
        drawn.append(batch.inputs)
        return batch

    first.task.sample = watched  # type: ignore[method-assign]
    list(first.epochs())
    assert len(drawn) == 15
    assert len({tuple(batch.flatten().tolist()) for batch in drawn}) == 15


def test_record() -> None:
    training = train()
    record = training.run_epoch()
    assert record.epoch == 1
    assert 0 < record.dev_accuracy < 1
    assert record.dev_ponder_cost > record.dev_mean_steps >= 1
    assert record.ponder_weight == ACT.ponder_weight
    plain = train(halting=None).run_epoch()
    assert plain.dev_mean_steps is None
    assert plain.ponder_weight is None
    fixed = train(halting=FixedStepsConfig(steps=4)).run_epoch()
    assert (fixed.dev_mean_steps, fixed.dev_sd_steps) == (4, 0)


@pytest.mark.parametrize("halting", [ACT, None, PONDER_NET, DACT])
def test_learns_parity_of_two_bits(halting: Any) -> None:
    """With or without ACT: at two bits there is nothing to compute one after the other."""
    settings = replace(sample_trial().training, updates_per_epoch=200)
    training = train(task=ParityConfig(bits=2), halting=halting, training=settings)
    assert training.evaluated().accuracy < 1
    list(training.epochs())
    assert training.history[-1].dev_accuracy == 1


@pytest.mark.slow
def test_act_learns_a_parity_that_its_cell_alone_does_not() -> None:
    """Graves' main result in small: less than half the errors, for as many updates."""
    errors, steps = [], []
    for halting in (ACT, None):
        settings = replace(
            sample_trial().training,
            learning_rate=0.005,
            batch_size=64,
            updates_per_epoch=2500,
            dev_sequences=1000,
        )
        network = replace(sample_trial().network, state_size=16)
        record = train(training=settings, network=network, halting=halting).run_epoch()
        errors.append(1 - record.dev_accuracy)
        steps.append(record.dev_mean_steps)
    assert errors[0] < 0.5 * errors[1]
    assert steps[0] > 1.5
