"""Configuration of a trial on bit strings of two lengths. Imports no torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from actmodels.configs import PositiveFraction
from actmodels.registry import HALTINGS, HaltingConfig
from actmodels.trial_config import BaseTrialConfig, sorted_into
from actmodels.validators import (
    BatchSize,
    Checked,
    NonNegativeFloat,
    NonNegativeInt,
    Positive,
    Size,
    Steps,
    settings_of,
)

Task = Literal["prefix_sums", "addition"]


@dataclass(frozen=True)
class TaskConfig(Checked):
    """Strings of random bits, drawn during training; addition has two numbers in each."""

    task: Task
    bits: Steps  # length of the strings of training and dev


@dataclass(frozen=True)
class NetworkConfig(Checked):
    """The network: one GRU cell for every bit."""

    width: Size


@dataclass(frozen=True)
class TrainingConfig(Checked):
    """Optimization with Adam; the last epoch is kept."""

    learning_rate: Positive
    final_rate: PositiveFraction  # share of learning_rate in the last epoch; linear by epoch
    clip_norm: NonNegativeFloat
    batch_size: BatchSize
    updates_per_epoch: BatchSize
    dev_strings: BatchSize
    dev_seed: NonNegativeInt


@dataclass(frozen=True)
class StoppingTrialConfig(BaseTrialConfig):
    """Everything but code that determines a result; model: such as `addition_dact`."""

    loader = "studies.stopping.training:no_data"
    trainer = "studies.stopping.training:StoppingTraining"

    model: str = field(init=False)
    task: TaskConfig
    network: NetworkConfig
    halting: HaltingConfig
    training: TrainingConfig

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", f"{self.task.task}_{self.mechanism}")
        super().__post_init__()

    @property
    def mechanism(self) -> str:
        """Name of the halting mechanism."""
        return next(name for name, one in HALTINGS.items() if one.settings is type(self.halting))

    @property
    def references(self) -> list[str]:
        return [HALTINGS[self.mechanism].halting]

    @classmethod
    def setting_types(cls, mechanism: str) -> dict[str, Any]:
        """Return name and type of the settings of trials with a mechanism."""
        return settings_of(*_parts(mechanism).values())

    @classmethod
    def build(cls, mechanism: str, settings: Mapping[str, Any], **limits: Any) -> Self:
        """Build a trial from flat settings; limits: max_epochs, patience, seed."""
        return cls(**limits, **sorted_into(_parts(mechanism), settings, mechanism))


def _parts(mechanism: str) -> dict[str, type]:
    halting = HALTINGS[mechanism].settings
    return {
        "task": TaskConfig,
        "network": NetworkConfig,
        "halting": halting,
        "training": TrainingConfig,
    }
