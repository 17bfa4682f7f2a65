"""Configuration of a trial on sequences, as in Graves' (2016) experiments. Imports no torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from actmodels.configs import ActRnnConfig, AnsweringConfig
from actmodels.registry import HALTINGS, HaltingConfig
from actmodels.trial_config import BaseTrialConfig, sorted_into
from actmodels.validators import (
    BatchSize,
    NonNegativeFloat,
    NonNegativeInt,
    Positive,
    Several,
    Size,
    Steps,
    settings_of,
)


@dataclass(frozen=True)
class ParityConfig:
    """Vectors of `bits` entries: a random number of them is 1 or -1, the rest 0. Graves: 64."""

    bits: Size


@dataclass(frozen=True)
class LogicConfig:
    """Sequences of 1 to `vectors` vectors with 1 to `gates` binary gates each. Graves: 10, 10."""

    vectors: Steps
    gates: Steps


@dataclass(frozen=True)
class AdditionConfig:
    """Sequences of 1 to `numbers` numbers of 1 to `digits` digits. Graves: 5 and 5."""

    numbers: Several
    digits: Steps


@dataclass(frozen=True)
class SortConfig:
    """Sequences of 2 to `numbers` numbers. Graves: 15."""

    numbers: Several


@dataclass(frozen=True)
class CharactersConfig:
    """Windows of `window` bytes (Graves: 500); the last held_out_bytes (0) of the file are dev."""

    window: Size
    held_out_bytes: NonNegativeInt


TaskConfig = ParityConfig | LogicConfig | AdditionConfig | SortConfig | CharactersConfig


@dataclass(frozen=True)
class SequenceTrainConfig:
    """Optimization with Adam, on data drawn during training."""

    learning_rate: Positive
    clip_norm: NonNegativeFloat  # maximum gradient norm; 0: no limit, as in Graves
    batch_size: BatchSize
    updates_per_epoch: BatchSize  # the length of an epoch
    dev_sequences: BatchSize  # size of the dev set
    dev_seed: NonNegativeInt


# None: the network without ACT, with one step for each input and no flag.
SequenceHaltingConfig = HaltingConfig | None

TASKS: dict[str, type] = {
    "parity": ParityConfig,
    "logic": LogicConfig,
    "addition": AdditionConfig,
    "sort": SortConfig,
    "characters": CharactersConfig,
}
STEP_LOSSES = ("supervised_act",)  # with the outputs of each step, which a sequence does not keep
HALTING_MECHANISMS: dict[str, type] = {
    "none": type(None),
    **{name: one.settings for name, one in HALTINGS.items() if name not in STEP_LOSSES},
}
MEAN_STATE = [
    name
    for name, settings in HALTING_MECHANISMS.items()
    if name != "none" and settings not in get_args(AnsweringConfig)
]


@dataclass(frozen=True)
class SequenceTrialConfig(BaseTrialConfig):
    """Everything but code and text that determines a result; model: such as `parity_rnn_act`."""

    loader = "studies.sequences.training:trial_text"
    trainer = "studies.sequences.training:SequenceTraining"

    model: str = field(init=False)
    task: TaskConfig
    network: ActRnnConfig
    halting: SequenceHaltingConfig
    training: SequenceTrainConfig

    def __post_init__(self) -> None:
        name = f"{self.task_name}_{self.network.cell}_{self.halting_name}"
        object.__setattr__(self, "model", name)
        super().__post_init__()

    def cross_field_errors(self) -> list[str]:
        if isinstance(self.task, ParityConfig) or not isinstance(self.halting, AnsweringConfig):
            return []
        return [
            f"halting {self.halting_name} is for one input with one answer, as parity has; "
            f"{self.task_name} must have one of none, {', '.join(MEAN_STATE)}"
        ]

    @property
    def task_name(self) -> str:
        return next(name for name, config in TASKS.items() if config is type(self.task))

    @property
    def halting_name(self) -> str:
        """Name of the halting mechanism, `none` without halting."""
        mechanisms = HALTING_MECHANISMS.items()
        return next(name for name, config in mechanisms if config is type(self.halting))

    @property
    def labels(self) -> dict[str, str]:
        return {"task": self.task_name, "halting": self.halting_name}

    @property
    def references(self) -> list[str]:
        return [] if self.halting is None else [HALTINGS[self.halting_name].halting]


def sequence_parts(task: str, halting: str) -> dict[str, type]:
    """Return the parts of a trial's configuration, by field."""
    return {
        "task": TASKS[task],
        "network": ActRnnConfig,
        "halting": HALTING_MECHANISMS[halting],  # that of `none` has no settings and makes None
        "training": SequenceTrainConfig,
    }


def sequence_setting_types(task: str, halting: str) -> dict[str, Any]:
    """Return the type of every setting of such trials, by name."""
    return settings_of(*sequence_parts(task, halting).values())


def build_sequence_trial(
    task: str, halting: str, settings: Mapping[str, Any], **limits: Any
) -> SequenceTrialConfig:
    """Build a trial from flat settings; see actmodels.trial_config.build_trial."""
    unread = {} if settings.get("init") == "normal" else {"init_std": 0.1}
    parts = sorted_into(sequence_parts(task, halting), unread | dict(settings), task)
    return SequenceTrialConfig(**limits, **parts)
