"""What a trial on cloze questions is: frozen, checked configuration. Imports no torch."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from actmodels.comprehension.settings import ReaderConfig, ReadingTrainConfig
from actmodels.errors import ConfigError
from actmodels.setting_checks import Ranges, made, part_problems

PREFIX = "nse_"  # of the names that trials have where other kinds are about
_ABOVE_ZERO = ("learning_rate", "clip_norm", "parameter_range", "embedding_range")
_COUNTS = ("steps", "batch_size", "pool_size", "evaluation_batch_size", "max_epochs")
READING_RANGES: Ranges = {
    **dict.fromkeys(_ABOVE_ZERO, (lambda v: v > 0, "above 0")),
    **dict.fromkeys(_COUNTS, (lambda v: v >= 1, "at least 1")),
    **dict.fromkeys(("patience", "seed"), (lambda v: v >= 0, "at least 0")),
    "memory_size": (lambda v: v >= 2 and v % 2 == 0, "even: each direction reads into one half"),
    "dropout": (lambda v: 0 <= v < 1, "in [0, 1)"),
    "questions": (lambda v: v.isidentifier(), "a name of letters, such as NE"),
}


@dataclass(frozen=True)
class ReadingConfig:
    """Everything, besides code and the questions themselves, that decides a trial's result.

    questions: which kind of questions, such as NE: the folder they are in.
    patience: stop after this many epochs without a better dev accuracy, 0 runs max_epochs;
        published 1.

    Raises:
        ConfigError: a setting that cannot be; all of them at once.
    """

    questions: str
    reader: ReaderConfig
    training: ReadingTrainConfig
    max_epochs: int
    patience: int
    seed: int

    def __post_init__(self) -> None:
        problems = [
            problem
            for part in (self.reader, self.training, self)
            for problem in part_problems(part, READING_RANGES)
        ]
        pool, batch = self.training.pool_size, self.training.batch_size
        if not problems and pool < batch:
            problems.append(f"pool_size is {pool}; must be at least batch_size, {batch}")
        if problems:
            raise ConfigError("reader", problems)

    @property
    def model(self) -> str:
        """The name that trials of one strategy share: `nse_query_gating`."""
        return PREFIX + self.reader.strategy

    def flat(self) -> dict[str, str | int | float | bool]:
        """All settings under their own names, in a fixed order."""
        row: dict[str, str | int | float | bool] = {"model": self.model, "seed": self.seed}
        row |= {"questions": self.questions} | asdict(self.reader) | asdict(self.training)
        return row | {"max_epochs": self.max_epochs, "patience": self.patience}

    def as_dict(self) -> dict[str, Any]:
        """Plain nested dictionaries, as stored in records."""
        return asdict(self)


def setting_names() -> list[str]:
    """The settings that `build_reading` takes, in the order of the tables."""
    return [f.name for part in (ReaderConfig, ReadingTrainConfig) for f in fields(part)]


def build_reading(
    questions: str, settings: Mapping[str, Any], *, max_epochs: int, patience: int, seed: int
) -> ReadingConfig:
    """Assemble a trial from flat settings.

    Raises:
        ConfigError: missing or unknown settings, or a value that cannot be; all at once.
    """
    known = setting_names()
    problems = [f"{name} is not a setting of a reader" for name in settings if name not in known]
    problems += [f"{name} of the reader is missing" for name in known if name not in settings]
    if problems:
        raise ConfigError("reader", problems)

    def part(cls: type) -> Any:
        return made(cls, {field.name: settings[field.name] for field in fields(cls)})

    return ReadingConfig(
        questions, part(ReaderConfig), part(ReadingTrainConfig), max_epochs, patience, seed
    )


def reading_from_dict(stored: dict[str, Any]) -> ReadingConfig:
    """The inverse of `ReadingConfig.as_dict`; raises as `build_reading` does."""
    limits = {name: stored[name] for name in ("max_epochs", "patience", "seed")}
    return build_reading(stored["questions"], stored["reader"] | stored["training"], **limits)
