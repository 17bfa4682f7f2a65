"""What a trial is: frozen, checked configuration. Imports neither torch nor anything outside."""

from dataclasses import asdict, dataclass, fields
from typing import Any, get_type_hints

from actmodels.errors import ConfigError
from actmodels.registry import MODELS, HaltingConfig, NetworkConfig
from actmodels.setting_checks import made, value_problem
from actmodels.settings import RANGES, InputConfig, TrainConfig


@dataclass(frozen=True)
class TrialConfig:
    """One point of a grid: everything, besides data and code, that decides its result.

    patience: stop after this many epochs without a better dev accuracy; 0 runs max_epochs.
    """

    model: str
    input: InputConfig
    network: NetworkConfig
    halting: HaltingConfig | None
    training: TrainConfig
    max_epochs: int
    patience: int
    seed: int

    def flat(self) -> dict[str, str | int | float | bool]:
        """All settings under their own names, in a fixed order: one row of a result table."""
        row: dict[str, str | int | float | bool] = {"model": self.model, "seed": self.seed}
        for part in (self.network, self.halting, self.training, self.input):
            row |= {} if part is None else asdict(part)
        return row | {"max_epochs": self.max_epochs, "patience": self.patience}

    def as_dict(self) -> dict[str, Any]:
        """Plain nested dictionaries, as stored in records and handed to workers."""
        return asdict(self)


def setting_types(model: str) -> dict[str, Any]:
    """Name and type of every setting of a model, in the order of the result tables."""
    halting = MODELS[model].halting
    parts = (MODELS[model].network, *((halting.settings,) if halting else ()))
    return {
        name: hint
        for part in (*parts, TrainConfig, InputConfig)
        for name, hint in get_type_hints(part).items()
    }


def setting_problem(model: str, name: str, value: object) -> str | None:
    """Why `value` cannot be the setting `name` of `model`, or None if it can."""
    return value_problem(setting_types(model)[name], name, value, RANGES)


def build_trial(
    model: str, settings: dict[str, Any], *, max_epochs: int, patience: int, seed: int
) -> TrialConfig:
    """Assemble a trial from flat settings.

    Raises:
        ConfigError: unknown model, missing or unknown setting, wrong type or range; all at once.
    """
    if model not in MODELS:
        raise ConfigError("trial", [f"model is {model!r}; must be one of {', '.join(MODELS)}"])
    known = setting_types(model)
    problems = [f"{name} is not a setting of {model}" for name in settings if name not in known]
    problems += [f"{name} of {model} is missing" for name in known if name not in settings]
    for name, value in settings.items():
        if name in known and (problem := setting_problem(model, name, value)):
            problems.append(f"{name} {problem}")
    if problems:
        raise ConfigError("trial", problems)

    def part(cls: type) -> Any:
        return made(cls, {field.name: settings[field.name] for field in fields(cls)})

    halting = MODELS[model].halting
    return TrialConfig(
        model=model,
        input=part(InputConfig),
        network=part(MODELS[model].network),
        halting=part(halting.settings) if halting else None,
        training=part(TrainConfig),
        max_epochs=max_epochs,
        patience=patience,
        seed=seed,
    )


def trial_from_dict(stored: dict[str, Any]) -> TrialConfig:
    """The inverse of `TrialConfig.as_dict`."""
    halting = stored["halting"] or {}
    settings = {**stored["network"], **halting, **stored["training"], **stored["input"]}
    return build_trial(
        stored["model"],
        settings,
        max_epochs=stored["max_epochs"],
        patience=stored["patience"],
        seed=stored["seed"],
    )
