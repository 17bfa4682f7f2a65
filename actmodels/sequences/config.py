"""What a trial on sequences is: frozen, checked configuration. Imports no torch."""

from dataclasses import asdict, dataclass
from typing import Any

from actmodels.errors import ConfigError
from actmodels.sequences.settings import (
    SequenceHaltingConfig,
    SequenceNetworkConfig,
    SequenceTrainConfig,
    TaskConfig,
)
from actmodels.settings import RANGES, ActConfig, FixedStepsConfig, TargetStepsConfig

# A subclass is another kind of halting, whose objective sequences do not have.
HALTINGS: tuple[type, ...] = (ActConfig, TargetStepsConfig, FixedStepsConfig, type(None))
AT_LEAST_ONE = (
    "bits",
    "vectors",
    "gates",
    "digits",
    "window",
    "state_size",
    "updates_per_epoch",
    "dev_sequences",
    "max_epochs",
)
SEQUENCE_RANGES: dict[str, tuple[Any, str]] = RANGES | {
    **dict.fromkeys(AT_LEAST_ONE, (lambda v: v >= 1, "at least 1")),
    **dict.fromkeys(
        ("clip_norm", "patience", "held_out_bytes", "dev_seed", "seed"),
        (lambda v: v >= 0, "at least 0"),
    ),
    "numbers": (lambda v: v >= 2, "at least 2"),  # one number has no sum and no order
    "cell": (lambda v: v in ("rnn", "lstm"), "rnn or lstm"),
    "init": (lambda v: v in ("xavier", "normal"), "xavier or normal"),
}


@dataclass(frozen=True)
class SequenceTrialConfig:
    """Everything, besides code and a text file's bytes, that decides a trial's result.

    patience: stop after this many epochs without a better dev accuracy; 0 runs max_epochs.
    """

    task: TaskConfig
    network: SequenceNetworkConfig
    halting: SequenceHaltingConfig
    training: SequenceTrainConfig
    max_epochs: int
    patience: int
    seed: int

    def __post_init__(self) -> None:
        problems = self.problems()
        if problems:
            raise ConfigError("trial", problems)

    def problems(self) -> list[str]:
        """One sentence for each setting that cannot be."""
        if type(self.halting) not in HALTINGS:
            known = ", ".join(kind.__name__ for kind in HALTINGS[:-1])
            return [f"halting is a {type(self.halting).__name__}; must be {known} or None"]
        parts = (self.task, self.network, self.training, *([self.halting] if self.halting else []))
        values = {name: value for part in parts for name, value in asdict(part).items()}
        values |= {"max_epochs": self.max_epochs, "patience": self.patience, "seed": self.seed}
        return [
            f"{name} is {value!r}; must be {SEQUENCE_RANGES[name][1]}"
            for name, value in values.items()
            if name in SEQUENCE_RANGES and not SEQUENCE_RANGES[name][0](value)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Plain nested dictionaries, as stored in records."""
        return asdict(self)
