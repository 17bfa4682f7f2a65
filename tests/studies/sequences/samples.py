"""Small trials on sequences."""

from dataclasses import replace
from typing import Any

import torch

from actmodels.configs import ActConfig, ActRnnConfig, DactConfig, PonderNetConfig
from studies.sequences.config import (
    AdditionConfig,
    CharactersConfig,
    LogicConfig,
    ParityConfig,
    SequenceTrainConfig,
    SequenceTrialConfig,
    SortConfig,
)

GENERATED = (
    ParityConfig(bits=6),
    LogicConfig(vectors=4, gates=3),
    AdditionConfig(numbers=3, digits=4),
    SortConfig(numbers=5),
)
CHARACTERS = CharactersConfig(window=7, held_out_bytes=40)
ACT = ActConfig(epsilon=0.01, ponder_weight=0.001, max_steps=6, halting_bias=0.0)
PONDER_NET = PonderNetConfig(
    epsilon=0.05, ponder_weight=0.01, prior_steps=3.0, max_steps=6, halting_bias=0.0
)
DACT = DactConfig(epsilon=0.01, ponder_weight=0.01, max_steps=6, halting_bias=0.0)
TEXT = torch.tensor(list(b"the quick brown fox jumps over the lazy dog; " * 4), dtype=torch.uint8)


def sample_trial(**changes: Any) -> SequenceTrialConfig:
    """A trial of a second: parity of six bits, an RNN of eight units."""
    trial = SequenceTrialConfig(
        task=GENERATED[0],
        network=ActRnnConfig(cell="rnn", state_size=8, init="xavier", init_std=0.1),
        halting=ACT,
        training=SequenceTrainConfig(
            learning_rate=0.01,
            clip_norm=1.0,
            batch_size=16,
            updates_per_epoch=5,
            dev_sequences=40,
            dev_seed=3,
        ),
        max_epochs=3,
        patience=0,
        seed=1,
    )
    return replace(trial, **changes)
