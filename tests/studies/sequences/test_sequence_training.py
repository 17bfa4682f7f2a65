"""Trials on sequences: settings, the paper's sizes, seeds, and that training learns."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from actmodels.configs import ActConfig, ActRnnConfig, TargetStepsConfig
from actmodels.seeding import generator
from studies.sequences.config import (
    AdditionConfig,
    CharactersConfig,
    LogicConfig,
    ParityConfig,
    SortConfig,
)
from studies.sequences.training import SequenceTraining
from tests.studies.sequences.samples import (
    ACT,
    DACT,
    GENERATED,
    PONDER_NET,
    TEXT,
    sample_trial,
)


def train(**changes: Any) -> SequenceTraining:
    return SequenceTraining(sample_trial(**changes), TEXT)


def test_the_target_is_the_mean_of_the_steps_without_padding() -> None:
    halting = TargetStepsConfig(target_steps=2.0, recent_share=1.0, max_steps=6)
    training = train(task=GENERATED[1], halting=halting)
    batch = training.task.sample(20, generator("sample", 1))
    scored = training.forward(batch)
    training.on_update_end(scored, batch)
    steps = scored.pondered.steps[batch.mask]
    assert not batch.mask.all()
    assert abs(float(training.model.halting.deviation)) == pytest.approx(
        abs(float(steps.mean()) - 2.0), rel=1e-5
    )


def test_seeds() -> None:
    """Epochs and seeds have different data; the dev set depends on dev_seed alone."""
    first, other = train(seed=1), train(seed=2)
    assert torch.equal(first.dev.inputs, other.dev.inputs)
    assert not torch.equal(first.model.output.weight, other.model.output.weight)
    training = replace(sample_trial().training, dev_seed=4)
    assert not torch.equal(train(training=training).dev.inputs, first.dev.inputs)
    drawn, sample = [], first.task.sample

    def watched(count: int, generator: torch.Generator) -> Any:
        drawn.append(sample(count, generator))
        return drawn[-1]

    first.task.sample = watched  # type: ignore[method-assign]
    list(first.epochs())
    assert len({batch.inputs.numpy().tobytes() for batch in drawn}) == len(drawn) == 15


@pytest.mark.parametrize("halting", [ACT, None, PONDER_NET, DACT])
def test_learns_parity_of_two_bits(halting: Any) -> None:
    """With or without ACT: two bits need no sequential computation."""
    settings = replace(sample_trial().training, updates_per_epoch=200)
    training = train(task=ParityConfig(bits=2), halting=halting, training=settings)
    assert training.dev_metrics().accuracy < 1
    list(training.epochs())
    assert training.history[-1].dev_accuracy == 1


PAPER_ACT = ActConfig(epsilon=0.01, ponder_weight=0.01, max_steps=100, halting_bias=1.0)
PAPER = {  # task, cell, state size, batch, cap of the steps, parameters without and with ACT
    "parity": (ParityConfig(64), "rnn", 128, 128, 100, 24_833, 25_090),
    "logic": (LogicConfig(10, 10), "lstm", 128, 16, 100, 118_401, 119_042),
    "addition": (AdditionConfig(5, 5), "lstm", 512, 32, 20, 1_186_882, 1_189_443),
    "sort": (SortConfig(15), "lstm", 512, 16, 100, 1_062_415, 1_064_976),
    "characters": (CharactersConfig(500, 0), "lstm", 1500, 1, 100, 10_926_256, 10_933_757),
}


@pytest.mark.parametrize("name", PAPER)
@pytest.mark.parametrize("act", [False, True])
def test_sizes_of_the_paper(name: str, act: bool) -> None:
    """RNN: s(i + s + 1); LSTM: 4 s(i + s + 1); output s·o + o; ACT: a flag and s + 1 to halt."""
    task, cell, state, batch, cap, *parameters = PAPER[name]
    trial = sample_trial(
        task=task,
        network=ActRnnConfig(cell, state, "xavier", 0.1),
        halting=replace(PAPER_ACT, max_steps=cap) if act else None,
        training=replace(sample_trial().training, batch_size=batch, dev_sequences=2),
    )
    assert SequenceTraining(trial, TEXT.repeat(3)).parameters == parameters[act]
