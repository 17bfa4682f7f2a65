"""Configuration of a trial on sequences: settings of Graves' (2016) experiments. No torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from actmodels.configs import (
    ActConfig,
    DactConfig,
    FixedStepsConfig,
    Init,
    PonderNetConfig,
    TargetStepsConfig,
)
from actmodels.registry import HALTINGS
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

Cell = Literal["rnn", "lstm"]


@dataclass(frozen=True)
class ParityConfig:
    """Vectors of `bits` entries, a random number of which is 1 or -1, the rest 0. Graves: 64."""

    bits: Size


@dataclass(frozen=True)
class LogicConfig:
    """BatchSize of 1 to `vectors` vectors, in each 1 to `gates` binary gates. Graves: 10 and 10."""

    vectors: Steps
    gates: Steps


@dataclass(frozen=True)
class AdditionConfig:
    """BatchSize of 1 to `numbers` numbers of 1 to `digits` digits. Graves: 5 and 5."""

    numbers: Several
    digits: Steps
    least_digit_first: bool


@dataclass(frozen=True)
class SortConfig:
    """BatchSize of 2 to `numbers` numbers. Graves: 15."""

    numbers: Several


@dataclass(frozen=True)
class CharactersConfig:
    """Windows of `window` bytes (Graves: 500) of a file, its last held_out_bytes (0) for dev."""

    window: Size
    held_out_bytes: NonNegativeInt


TaskConfig = ParityConfig | LogicConfig | AdditionConfig | SortConfig | CharactersConfig


@dataclass(frozen=True)
class SequenceNetworkConfig:
    """A recurrent network of one layer. init_std is read where init is `normal`."""

    cell: Cell
    state_size: Size
    init: Init
    init_std: Positive


@dataclass(frozen=True)
class SequenceTrainConfig:
    """Optimisation with Adam, on data drawn during training.

    clip_norm: largest norm of a gradient; 0: no limit, as in Graves. updates_per_epoch: defines an
    epoch. dev_sequences, dev_seed: the dev set.
    """

    learning_rate: Positive
    clip_norm: NonNegativeFloat
    batch_size: BatchSize
    updates_per_epoch: BatchSize
    dev_sequences: BatchSize
    dev_seed: NonNegativeInt


# Their answers are not those of a mean state, so that no state stands for a whole input.
AnsweringConfig = PonderNetConfig | DactConfig
# None is the network without ACT: one step for each input, and no flag.
SequenceHaltingConfig = ActConfig | TargetStepsConfig | FixedStepsConfig | AnsweringConfig | None

TASKS: dict[str, type] = {
    "parity": ParityConfig,
    "logic": LogicConfig,
    "addition": AdditionConfig,
    "sort": SortConfig,
    "characters": CharactersConfig,
}
CARRYING = ("act", "target_steps", "fixed_steps")
HALTING_KINDS: dict[str, type] = {
    "none": type(None),
    **{kind: HALTINGS[kind].settings for kind in (*CARRYING, "ponder_net", "dact")},
}


@dataclass(frozen=True)
class SequenceTrialConfig(BaseTrialConfig):
    """Everything but code and text that decides a trial's result; model: as `parity_rnn_act`."""

    model: str = field(init=False)
    task: TaskConfig
    network: SequenceNetworkConfig
    halting: SequenceHaltingConfig
    training: SequenceTrainConfig

    def __post_init__(self) -> None:
        name = f"{self.task_name}_{self.network.cell}_{self.halting_name}"
        object.__setattr__(self, "model", name)
        super().__post_init__()

    def cross_field_errors(self) -> list[str]:
        """A halting that answers by itself has no state to carry on to the next input."""
        if isinstance(self.task, ParityConfig) or not isinstance(self.halting, AnsweringConfig):
            return []
        return [
            f"halting {self.halting_name} is for one input with one answer, as parity has; "
            f"{self.task_name} must have one of none, {', '.join(CARRYING)}"
        ]

    @property
    def task_name(self) -> str:
        return next(name for name, known in TASKS.items() if known is type(self.task))

    @property
    def halting_name(self) -> str:
        """Such as `act`; `none` for a network without halting."""
        return next(name for name, known in HALTING_KINDS.items() if known is type(self.halting))

    @property
    def labels(self) -> dict[str, str]:
        return {"task": self.task_name, "halting": self.halting_name}

    @property
    def classes(self) -> list[str]:
        return [] if self.halting is None else [HALTINGS[self.halting_name].halting]


def sequence_parts(task: str, halting: str) -> dict[str, type]:
    """The parts that trials of a task and a kind of halting are made of."""
    return {
        "task": TASKS[task],
        "network": SequenceNetworkConfig,
        **({} if halting == "none" else {"halting": HALTING_KINDS[halting]}),
        "training": SequenceTrainConfig,
    }


def sequence_setting_types(task: str, halting: str) -> dict[str, Any]:
    """Name and type of every setting of such trials."""
    return settings_of(*sequence_parts(task, halting).values())


def build_sequence_trial(
    task: str, halting: str, settings: Mapping[str, Any], **limits: Any
) -> SequenceTrialConfig:
    """Assemble a trial from flat settings; see actmodels.trial_config.build_trial."""
    parts = {"halting": None} | sorted_into(sequence_parts(task, halting), settings, task)
    return SequenceTrialConfig(**limits, **parts)
