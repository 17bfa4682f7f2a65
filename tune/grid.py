"""From the grid in params.yaml to trials in a fixed order. No Ray."""

import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actmodels.config import AnyTrialConfig, TrialConfig, build_trial, setting_types
from actmodels.provenance import provenance, trial_key
from tune.early_stopping import SuccessiveHalving


@dataclass(frozen=True)
class Trial:
    """A configuration and the key of its result."""

    key: str
    config: AnyTrialConfig
    origin: dict[str, str]
    early_stopping: SuccessiveHalving | None = None

    @property
    def name(self) -> str:
        """What the trial is called in MLflow, in Ray's dashboard and in messages."""
        return f"{self.config.model}-{self.key[:8]}"


def expand(
    model: str,
    settings: Mapping[str, Any],
    grid: Mapping[str, Sequence[Any]],
    *,
    seeds: Sequence[int],
    max_epochs: int,
    patience: int,
) -> list[TrialConfig]:
    """Every combination of the grid's values with every seed.

    The order is that of the settings in the result tables, whatever the order in params.yaml;
    the last axis and then the seed turn fastest.
    """
    axes = [name for name in setting_types(model) if name in grid]
    axes += [name for name in grid if name not in axes]  # unknown ones fail in build_trial
    return [
        build_trial(
            model,
            {**settings, **dict(zip(axes, point, strict=True))},
            max_epochs=max_epochs,
            patience=patience,
            seed=seed,
        )
        for point in itertools.product(*(grid[axis] for axis in axes))
        for seed in seeds
    ]


def with_keys(
    configs: Iterable[AnyTrialConfig],
    *,
    data_digest: str,
    device: str,
    threads: int,
    precision: str = "highest",
    early_stopping: SuccessiveHalving | None = None,
) -> list[Trial]:
    """Name each trial after all that decides its result, also a rule that may end it early."""
    rule = {"early_stopping": str(early_stopping)} if early_stopping else {}
    rule |= {} if precision == "highest" else {"matmul_precision": precision}
    origins: dict[str, dict[str, str]] = {}
    trials = []
    for config in configs:
        if config.model not in origins:
            origin = provenance(config, data_digest, device, threads)
            origins[config.model] = origin | rule
        origin = origins[config.model]
        trials.append(Trial(trial_key(config.as_dict(), origin), config, origin, early_stopping))
    return trials


def grid_hash(trials: Iterable[Trial]) -> str:
    """The name of a set of trials in their order: 16 hexadecimal digits of SHA-256."""
    return hashlib.sha256("\n".join(trial.key for trial in trials).encode()).hexdigest()[:16]
