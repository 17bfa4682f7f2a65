"""Configurations of trials. Standard library only."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, Self

from actmodels.configs import InputConfig, TrainConfig
from actmodels.errors import ConfigError, shown
from actmodels.registry import MODELS, HaltingConfig, NetworkConfig
from actmodels.validators import Epochs, NonNegativeInt, optional_settings, settings_of


@dataclass(frozen=True, kw_only=True)
class BaseTrialConfig:
    """Fields of every trial type; subclasses add parts, which are dataclasses of settings.

    Subclasses name their code as module:name, so that a trial loads only its own.
    """

    called: ClassVar[str] = "trial"  # name in error messages
    loader: ClassVar[str]  # (config, folder, text) -> data; read-only, shared by a node's workers
    trainer: ClassVar[str]  # (config, data, device) -> ModelTraining
    fused_trainer: ClassVar[str | None] = None  # (configs, data, device) -> FusedTraining
    static_trainer: ClassVar[str | None] = None  # the same, for updates as CUDA graphs

    model: str  # name of the model; trials of one model are compared
    max_epochs: Epochs
    patience: NonNegativeInt  # stop after these epochs without a better dev accuracy; 0: never
    seed: NonNegativeInt

    def __post_init__(self) -> None:
        if problems := self.cross_field_errors():
            raise ConfigError(self.called, problems)

    def cross_field_errors(self) -> list[str]:
        """Return the problems of combinations of settings that are valid individually."""
        return []

    @property
    def parts(self) -> list[Any]:
        """The parts, in the column order of the result tables."""
        values = (getattr(self, field.name) for field in fields(self))
        return [value for value in values if is_dataclass(value)]

    @property
    def labels(self) -> dict[str, str]:
        """Columns of a result row that precede the settings."""
        return {}

    @property
    def references(self) -> list[str]:
        """Python classes that the trial loads by name, as module:name."""
        return []

    def with_settings(self, settings: Mapping[str, Any]) -> Self:
        """Return a configuration with some settings of its parts replaced."""
        parts: dict[str, Any] = {}
        for field in fields(self):
            if is_dataclass(part := getattr(self, field.name)) and not isinstance(part, type):
                own = {key: value for key, value in settings.items() if hasattr(part, key)}
                parts[field.name] = replace(part, **own)
        return replace(self, **parts)

    def flat(self) -> dict[str, str | int | float | bool]:
        """Return all settings by name, in the column order of the result tables."""
        row: dict[str, str | int | float | bool] = {"model": self.model, "seed": self.seed}
        row |= self.labels
        for part in self.parts:
            row |= asdict(part)
        return row | {"max_epochs": self.max_epochs, "patience": self.patience}

    def as_dict(self) -> dict[str, Any]:
        """Return nested dictionaries, as stored in records: the parts, then the common fields."""
        plain = asdict(self)
        limits = {name: plain.pop(name) for name in ("max_epochs", "patience", "seed")}
        return plain | limits


def sorted_into(
    parts: Mapping[str, type], settings: Mapping[str, Any], owner: str, called: str = "trial"
) -> dict[str, Any]:
    """Build the parts of a trial, dataclasses by field, from flat settings.

    Raises:
        ConfigError: lists unknown and missing settings; names `called` and `owner`, the model.
    """
    types = settings_of(*parts.values())
    known = {*settings, *optional_settings(*parts.values())}
    problems = [f"{name} is not a setting of {owner}" for name in settings if name not in types]
    problems += [f"{name} of {owner} is missing" for name in types if name not in known]
    if problems:
        raise ConfigError(called, problems)
    return {
        field: part(**{name: settings[name] for name in settings_of(part) if name in settings})
        for field, part in parts.items()
    }


@dataclass(frozen=True)
class TrialConfig(BaseTrialConfig):
    """A trial on sentence pairs; with data and code it determines the result."""

    loader = "actmodels.data.trial_data:trial_data"
    trainer = "actmodels.training:Training"
    fused_trainer: ClassVar[str | None] = "actmodels.fused:FusedTraining"
    static_trainer: ClassVar[str | None] = "actmodels.static_updates:StaticTraining"

    input: InputConfig
    network: NetworkConfig
    halting: HaltingConfig | None
    training: TrainConfig

    @classmethod
    def part_types(cls, model: str) -> dict[str, type]:
        """Return a model's parts by field, in the column order of the result tables."""
        halting = MODELS[model].halting
        return {
            "network": MODELS[model].network,
            **({"halting": halting.settings} if halting else {}),
            "training": TrainConfig,
            "input": InputConfig,
        }

    @classmethod
    def setting_types(cls, model: str) -> dict[str, Any]:
        """Return name and type of a model's settings, in the column order of the result tables."""
        return settings_of(*cls.part_types(model).values())

    @classmethod
    def optional_settings(cls, model: str) -> set[str]:
        """Return the settings of a model that are off if they are absent."""
        return optional_settings(*cls.part_types(model).values())

    @classmethod
    def build(cls, model: str, settings: Mapping[str, Any], **limits: Any) -> Self:
        """Build a trial from flat settings; limits: max_epochs, patience, seed."""
        if model not in MODELS:
            problem = f"model is {shown(model)}; must be one of {', '.join(MODELS)}"
            raise ConfigError("trial", [problem])
        parts = sorted_into(cls.part_types(model), settings, model)
        return cls(model=model, **limits, **{"halting": None} | parts)

    @property
    def parts(self) -> list[Any]:
        return [getattr(self, name) for name in self.part_types(self.model)]

    @property
    def references(self) -> list[str]:
        return MODELS[self.model].references


build_trial, setting_types = TrialConfig.build, TrialConfig.setting_types


def trial_from_dict(stored: Mapping[str, Any]) -> TrialConfig:
    """Build a trial from the output of `TrialConfig.as_dict`."""
    parts = [stored[name] or {} for name in ("network", "halting", "training", "input")]
    settings = {name: value for part in parts for name, value in part.items()}
    limits = {name: stored[name] for name in ("max_epochs", "patience", "seed")}
    return build_trial(stored["model"], settings, **limits)
