"""What a trial is: frozen configuration. Imports neither torch nor anything outside."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any, ClassVar

from actmodels.configs import InputConfig, TrainConfig
from actmodels.errors import ConfigError, shown
from actmodels.registry import MODELS, HaltingConfig, NetworkConfig
from actmodels.validators import Epochs, NonNegativeInt, settings_of


@dataclass(frozen=True, kw_only=True)
class BaseTrialConfig:
    """The fields of every trial; further fields are parts, dataclasses of settings.

    model: shared by trials that are compared. patience: epochs without a better dev accuracy before
    training stops; 0 runs max_epochs.
    """

    called: ClassVar[str] = "trial"  # in messages

    model: str
    max_epochs: Epochs
    patience: NonNegativeInt
    seed: NonNegativeInt

    def __post_init__(self) -> None:
        if problems := self.cross_field_errors():
            raise ConfigError(self.called, problems)

    def cross_field_errors(self) -> list[str]:
        """What is wrong with settings that can each be for themselves."""
        return []

    @property
    def parts(self) -> list[Any]:
        """The parts, in the order of the result tables."""
        values = (getattr(self, field.name) for field in fields(self))
        return [value for value in values if is_dataclass(value)]

    @property
    def labels(self) -> dict[str, str]:
        """What a row says of the trial before its settings."""
        return {}

    @property
    def classes(self) -> list[str]:
        """What is found by name to train it, as module:name."""
        return []

    def flat(self) -> dict[str, str | int | float | bool]:
        """All settings under their own names, in a fixed order: one row of a result table."""
        row: dict[str, str | int | float | bool] = {"model": self.model, "seed": self.seed}
        row |= self.labels
        for part in self.parts:
            row |= asdict(part)
        return row | {"max_epochs": self.max_epochs, "patience": self.patience}

    def as_dict(self) -> dict[str, Any]:
        """Plain nested dictionaries, as stored in records: the parts, then what all have."""
        plain = asdict(self)
        limits = {name: plain.pop(name) for name in ("max_epochs", "patience", "seed")}
        return plain | limits


def sorted_into(
    parts: Mapping[str, type], settings: Mapping[str, Any], whose: str, called: str = "trial"
) -> dict[str, Any]:
    """Build the parts (classes by field) of a trial of `whose`; ConfigError lists bad settings."""
    known = settings_of(*parts.values())
    problems = [f"{name} is not a setting of {whose}" for name in settings if name not in known]
    problems += [f"{name} of {whose} is missing" for name in known if name not in settings]
    if problems:
        raise ConfigError(called, problems)
    return {
        field: part(**{name: settings[name] for name in settings_of(part)})
        for field, part in parts.items()
    }


@dataclass(frozen=True)
class TrialConfig(BaseTrialConfig):
    """One point of a grid: everything, besides data and code, that decides its result."""

    input: InputConfig
    network: NetworkConfig
    halting: HaltingConfig | None
    training: TrainConfig

    @property
    def parts(self) -> list[Any]:
        parts = (self.network, self.halting, self.training, self.input)
        return [part for part in parts if part is not None]

    @property
    def classes(self) -> list[str]:
        return MODELS[self.model].classes


def parts_of(model: str) -> dict[str, type]:
    """The parts that trials of a model are made of, in the order of the result tables."""
    halting = MODELS[model].halting
    return {
        "network": MODELS[model].network,
        **({"halting": halting.settings} if halting else {}),
        "training": TrainConfig,
        "input": InputConfig,
    }


def setting_types(model: str) -> dict[str, Any]:
    """Name and type of every setting of a model, in the order of the result tables."""
    return settings_of(*parts_of(model).values())


def model_parts(model: str, settings: Mapping[str, Any], **more: type) -> dict[str, Any]:
    """Build the parts of a model's trial, and those of `more`; ConfigError as in `sorted_into`."""
    if model not in MODELS:
        raise ConfigError("trial", [f"model is {shown(model)}; must be one of {', '.join(MODELS)}"])
    return {"halting": None} | sorted_into({**parts_of(model), **more}, settings, model)


def build_trial(model: str, settings: Mapping[str, Any], **limits: Any) -> TrialConfig:
    """Build a trial from flat settings, as `model_parts`; limits: max_epochs, patience, seed."""
    return TrialConfig(model=model, **limits, **model_parts(model, settings))


def trial_from_dict(stored: Mapping[str, Any]) -> TrialConfig:
    """The inverse of `TrialConfig.as_dict`."""
    parts = [stored[name] or {} for name in ("network", "halting", "training", "input")]
    settings = {name: value for part in parts for name, value in part.items()}
    limits = {name: stored[name] for name in ("max_epochs", "patience", "seed")}
    return build_trial(stored["model"], settings, **limits)
