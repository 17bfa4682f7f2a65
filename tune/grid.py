"""Trials by the keys of their results. No Ray."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from actmodels.provenance import provenance, trial_key
from actmodels.trial_config import BaseTrialConfig
from tune.early_stopping import SuccessiveHalving


@dataclass(frozen=True)
class Trial:
    """A configuration and the key of its result."""

    key: str
    config: BaseTrialConfig
    origin: dict[str, str]
    early_stopping: SuccessiveHalving | None = None

    @property
    def name(self) -> str:
        """What the trial is called in MLflow, in Ray's dashboard and in messages."""
        return f"{self.config.model}-{self.key[:8]}"


def with_keys(
    configs: Iterable[BaseTrialConfig],
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
