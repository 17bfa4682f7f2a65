"""What a trial on sequences is: frozen, checked configuration. Imports no torch."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from actmodels.errors import ConfigError
from actmodels.registry import HALTINGS
from actmodels.sequences.settings import (
    AdditionConfig,
    CharactersConfig,
    LogicConfig,
    ParityConfig,
    SequenceHaltingConfig,
    SequenceNetworkConfig,
    SequenceTrainConfig,
    SortConfig,
    TaskConfig,
)
from actmodels.setting_checks import made, part_problems
from actmodels.settings import RANGES

TASKS: dict[str, type] = {
    "parity": ParityConfig,
    "logic": LogicConfig,
    "addition": AdditionConfig,
    "sort": SortConfig,
    "characters": CharactersConfig,
}
# The others have objectives of their own, for one label per example.
HALTING_KINDS: dict[str, type] = {
    "none": type(None),
    **{kind: HALTINGS[kind].settings for kind in ("act", "target_steps", "fixed_steps")},
}
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
}


@dataclass(frozen=True)
class SequenceTrialConfig:
    """Everything, besides code and a text file's bytes, that decides a trial's result.

    patience: stop after this many epochs without a better dev accuracy; 0 runs max_epochs.

    Raises:
        ConfigError: a setting that cannot be; all of them at once.
    """

    task: TaskConfig
    network: SequenceNetworkConfig
    halting: SequenceHaltingConfig
    training: SequenceTrainConfig
    max_epochs: int
    patience: int
    seed: int

    def __post_init__(self) -> None:
        if type(self.halting) not in HALTING_KINDS.values():
            known = ", ".join(HALTING_KINDS)
            problem = f"halting is a {type(self.halting).__name__}; must be that of {known}"
            raise ConfigError("trial", [problem])
        problems = [
            problem
            for part in (self.task, self.network, self.halting, self.training, self)
            if part is not None
            for problem in part_problems(part, SEQUENCE_RANGES)
        ]
        if problems:
            raise ConfigError("trial", problems)

    @property
    def task_name(self) -> str:
        """Such as `parity`."""
        return name_of(type(self.task), TASKS)

    @property
    def halting_name(self) -> str:
        """Such as `act`; `none` for a network without halting."""
        return name_of(type(self.halting), HALTING_KINDS)

    @property
    def model(self) -> str:
        """The name that trials of one task, cell and kind of halting share: `parity_rnn_act`."""
        return f"{self.task_name}_{self.network.cell}_{self.halting_name}"

    def flat(self) -> dict[str, str | int | float | bool]:
        """All settings under their own names, in a fixed order."""
        row: dict[str, str | int | float | bool] = {"model": self.model, "seed": self.seed}
        row |= {"task": self.task_name, "halting": self.halting_name}
        for part in (self.task, self.network, self.halting, self.training):
            row |= {} if part is None else asdict(part)
        return row | {"max_epochs": self.max_epochs, "patience": self.patience}

    def as_dict(self) -> dict[str, Any]:
        """Plain nested dictionaries, as stored in records; task and halting say their kind."""
        plain = asdict(self)
        plain["task"] = {"kind": self.task_name} | plain["task"]
        plain["halting"] = {"kind": self.halting_name} | (plain["halting"] or {})
        return plain


def name_of(kind: type, names: dict[str, type]) -> str:
    """The name that stands for a class."""
    return next(name for name, known in names.items() if known is kind)


def trial_from_dict(stored: dict[str, Any]) -> SequenceTrialConfig:
    """The inverse of `SequenceTrialConfig.as_dict`.

    Raises:
        ConfigError: unknown kind, missing or unknown settings, or a value that cannot be.
    """
    problems: list[str] = []

    def part(where: str, cls: type, given: dict[str, Any]) -> Any:
        known = {field.name for field in fields(cls)}
        problems.extend(f"{name} is not a setting of {where}" for name in given.keys() - known)
        problems.extend(f"{name} of {where} is missing" for name in known - given.keys())
        return None if problems else made(cls, given)

    def kind(where: str, kinds: dict[str, type]) -> Any:
        given = dict(stored[where])
        name = given.pop("kind", None)
        if name not in kinds:
            problems.append(f"kind of {where} is {name!r}; must be one of {', '.join(kinds)}")
            return None
        return None if kinds[name] is type(None) else part(name, kinds[name], given)

    parts = {
        "task": kind("task", TASKS),
        "network": part("network", SequenceNetworkConfig, stored["network"]),
        "halting": kind("halting", HALTING_KINDS),
        "training": part("training", SequenceTrainConfig, stored["training"]),
    }
    if problems:
        raise ConfigError("trial", sorted(problems))
    built: SequenceTrialConfig = part("the trial", SequenceTrialConfig, stored | parts)
    if problems:
        raise ConfigError("trial", sorted(problems))
    return built


def build_sequence_trial(
    task: str,
    halting: str,
    settings: Mapping[str, Any],
    *,
    max_epochs: int,
    patience: int,
    seed: int,
) -> SequenceTrialConfig:
    """Assemble a trial from flat settings, which go to the part that knows their name.

    Raises:
        ConfigError: unknown kind, missing or unknown settings, or a value that cannot be.
    """
    parts = {
        "task": TASKS.get(task),
        "network": SequenceNetworkConfig,
        "halting": HALTING_KINDS.get(halting),
        "training": SequenceTrainConfig,
    }
    stored: dict[str, Any] = {name: {} for name in parts}
    stored["task"]["kind"], stored["halting"]["kind"] = task, halting
    left = dict(settings)
    for name, part in parts.items():
        if part in (None, type(None)):
            continue
        own = [field.name for field in fields(part)]
        stored[name] |= {setting: left.pop(setting) for setting in own if setting in left}
    # what nobody knows is named as a setting of the task, with all other problems
    stored["task"] |= left if task in TASKS and halting in HALTING_KINDS else {}
    limits = {"max_epochs": max_epochs, "patience": patience, "seed": seed}
    return trial_from_dict(stored | limits)
