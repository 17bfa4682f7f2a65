"""What a trial is: frozen, checked configuration. Imports neither torch nor anything outside.

Every field has one name everywhere: params.yaml, this file, MLflow, the result tables.
"""

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from actmodels.errors import ConfigError

OovRule = Literal["own", "hashed", "unknown"]
Init = Literal["xavier", "normal"]
Optimizer = Literal["adam", "adagrad"]


@dataclass(frozen=True)
class InputConfig:
    """How tokens become frozen input vectors (facts: paper appendix D).

    oov_rule: what stands for a vocabulary word without a pre-trained vector: a random row of
        its `own`, one of `oov_buckets` random rows chosen by `hashed` spelling, or the one
        `unknown` row that also serves words outside the vocabulary.
    """

    oov_rule: OovRule
    oov_buckets: int
    oov_std: float
    unit_norm: bool
    null_token: bool


@dataclass(frozen=True)
class TrainConfig:
    """Optimisation of one trial."""

    optimizer: Optimizer
    learning_rate: float
    adagrad_accumulator: float
    clip_norm: float
    batch_size: int


@dataclass(frozen=True)
class DecomposableAttentionConfig:
    """Shape of the Decomposable Attention model (Parikh et al. 2016)."""

    width: int
    dropout: float
    init: Init
    init_std: float


@dataclass(frozen=True)
class AdaptiveAttentionConfig:
    """Shape of the paper's Adaptive Attention model and its halting (paper section 3)."""

    width: int
    state_size: int
    gate_size: int
    dropout: float
    init: Init
    init_std: float
    epsilon: float
    ponder_weight: float
    max_steps: int
    halting_bias: float


NetworkConfig = DecomposableAttentionConfig | AdaptiveAttentionConfig

NETWORKS: dict[str, type[DecomposableAttentionConfig] | type[AdaptiveAttentionConfig]] = {
    "decomposable_attention": DecomposableAttentionConfig,
    "adaptive_attention": AdaptiveAttentionConfig,
}


@dataclass(frozen=True)
class TrialConfig:
    """One point of a grid: everything, besides data and code, that decides its result.

    patience: stop after this many epochs without a better dev accuracy; 0 runs max_epochs.
    """

    model: str
    input: InputConfig
    network: NetworkConfig
    training: TrainConfig
    max_epochs: int
    patience: int
    seed: int

    def flat(self) -> dict[str, str | int | float | bool]:
        """All settings under their own names, in a fixed order: one row of a result table."""
        row: dict[str, str | int | float | bool] = {"model": self.model, "seed": self.seed}
        for part in (self.network, self.training, self.input):
            row |= asdict(part)
        return row | {"max_epochs": self.max_epochs, "patience": self.patience}

    def as_dict(self) -> dict[str, Any]:
        """Plain nested dictionaries, as stored in records and handed to workers."""
        return asdict(self)


def setting_types(model: str) -> dict[str, Any]:
    """Name and type of every setting of a model, in table order (network, training, input)."""
    return {
        name: hint
        for part in (NETWORKS[model], TrainConfig, InputConfig)
        for name, hint in get_type_hints(part).items()
    }


# name -> (holds, wording); checked for every trial before anything is run.
RANGES: dict[str, tuple[Any, str]] = {
    "width": (lambda v: v >= 1, "at least 1"),
    "state_size": (lambda v: v >= 1, "at least 1"),
    "gate_size": (lambda v: v >= 1, "at least 1"),
    "dropout": (lambda v: 0 <= v < 1, "in [0, 1)"),
    "init_std": (lambda v: v > 0, "above 0"),
    "epsilon": (lambda v: 0 < v < 1, "in (0, 1)"),
    "ponder_weight": (lambda v: v >= 0, "at least 0"),
    "max_steps": (lambda v: v >= 1, "at least 1"),
    "learning_rate": (lambda v: v > 0, "above 0"),
    "adagrad_accumulator": (lambda v: v >= 0, "at least 0"),
    "clip_norm": (lambda v: v > 0, "above 0"),
    "batch_size": (lambda v: v >= 1, "at least 1"),
    "oov_buckets": (lambda v: v >= 1, "at least 1"),
    "oov_std": (lambda v: v >= 0, "at least 0"),
}


def setting_problem(model: str, name: str, value: object) -> str | None:
    """Why `value` cannot be the setting `name` of `model`, or None if it can."""
    hint = setting_types(model)[name]
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            return f"is {value!r}; must be one of {', '.join(get_args(hint))}"
    elif hint is float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return f"is {value!r}; must be a number"
    elif isinstance(value, bool) is not (hint is bool) or not isinstance(value, hint):
        kind = {int: "a whole number", bool: "true or false"}[hint]
        return f"is {value!r}; must be {kind}"
    holds, wording = RANGES.get(name, (lambda _: True, ""))
    return None if holds(value) else f"is {value!r}; must be {wording}"


def build_trial(
    model: str, settings: dict[str, Any], *, max_epochs: int, patience: int, seed: int
) -> TrialConfig:
    """Assemble a trial from flat settings.

    Raises:
        ConfigError: unknown model, missing or unknown setting, wrong type or range; all at once.
    """
    if model not in NETWORKS:
        raise ConfigError("trial", [f"model is {model!r}; must be one of {', '.join(NETWORKS)}"])
    known = setting_types(model)
    problems = [f"{name} is not a setting of {model}" for name in settings if name not in known]
    problems += [f"{name} of {model} is missing" for name in known if name not in settings]
    for name, value in settings.items():
        if name in known and (problem := setting_problem(model, name, value)):
            problems.append(f"{name} {problem}")
    if problems:
        raise ConfigError("trial", problems)
    # An int given for a float must not make a second key for the same trial.
    typed = {name: float(v) if known[name] is float else v for name, v in settings.items()}

    def part(cls: type) -> Any:
        return cls(**{field.name: typed[field.name] for field in fields(cls)})

    return TrialConfig(
        model=model,
        input=part(InputConfig),
        network=part(NETWORKS[model]),
        training=part(TrainConfig),
        max_epochs=max_epochs,
        patience=patience,
        seed=seed,
    )


def trial_from_dict(stored: dict[str, Any]) -> TrialConfig:
    """The inverse of `TrialConfig.as_dict`."""
    settings = {**stored["network"], **stored["training"], **stored["input"]}
    return build_trial(
        stored["model"],
        settings,
        max_epochs=stored["max_epochs"],
        patience=stored["patience"],
        seed=stored["seed"],
    )
