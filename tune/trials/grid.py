"""Trials and their keys. Does not import Ray."""

import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from actmodels.ranges import Point
from actmodels.records import trial_name
from actmodels.trial_config import BaseTrialConfig
from tune.trials.early_stopping import RungScores, SuccessiveHalving
from tune.trials.execution import Execution
from tune.trials.provenance import provenance, trial_key
from tune.trials.search import OptunaSearch
from tune.trials.storage import Storage


@dataclass(frozen=True)
class Trial:
    """A configuration and the key of its result.

    search: of a sequential search, for which this trial stands; no part of the key.
    proposal: settings of a trial that a search proposed, as JSON, and the key of that trial.
    """

    key: str
    config: BaseTrialConfig
    origin: dict[str, str]
    early_stopping: SuccessiveHalving | None = None
    search: OptunaSearch | None = None
    proposal: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """See trial_name."""
        return trial_name(self.key, self.config.model)

    @property
    def settings(self) -> dict[str, Any]:
        """All settings by name."""
        return self.config.flat()

    @property
    def data(self) -> str:
        """The digest of the training data."""
        return self.origin["data"]

    @property
    def configuration(self) -> BaseTrialConfig:
        """The configuration without its seed."""
        return replace(self.config, seed=0)

    @property
    def configuration_name(self) -> str:
        """A name that all seeds of a configuration share."""
        identity = json.dumps(self.configuration.as_dict(), sort_keys=True).encode()
        return trial_name(hashlib.sha256(identity).hexdigest(), self.config.model)

    def at(self, point: Point) -> "Trial":
        """Return the trial of a proposed point."""
        config = self.config.with_settings(point)
        key = trial_key(config.as_dict(), self.origin)
        proposal = {"template": self.key, "settings": json.dumps(point)}
        return replace(self, key=key, config=config, proposal=proposal)


def with_keys(
    configs: Iterable[BaseTrialConfig],
    data_digest: str,
    execution: Execution,
    early_stopping: SuccessiveHalving | None = None,
    searches: Mapping[str, OptunaSearch] | None = None,
) -> list[Trial]:
    """Return trials whose keys cover all that determines a result, early stopping included.

    Early stopping compares means over seeds: with several seeds a key covers them.

    data_digest: of the training data. searches: sequential ones, by model.
    """
    configs, precision = list(configs), execution.matmul_precision
    seeds = ", ".join(map(str, sorted({config.seed for config in configs})))
    compared = f"{early_stopping}, means of seeds {seeds}" if "," in seeds else str(early_stopping)
    rule = {"early_stopping": compared} if early_stopping else {}
    rule |= {} if precision == "highest" else {"matmul_precision": precision}
    origins: dict[str, dict[str, str]] = {}
    trials = []
    for config in configs:
        if config.model not in origins:
            origin = provenance(config, data_digest, execution.device, execution.threads)
            origins[config.model] = origin | rule
        origin = origins[config.model]
        key = trial_key(config.as_dict(), origin)
        search = (searches or {}).get(config.model)
        trials.append(Trial(key, config, origin, early_stopping, search))
    return trials


def by_configuration(trials: Iterable[Trial]) -> list[list[Trial]]:
    """Return the trials that one worker trains in any case.

    With early stopping these are all seeds of a configuration, which end together; else one trial.
    """
    groups: dict[Hashable, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(trial.configuration if trial.early_stopping else trial.key, []).append(
            trial
        )
    return list(groups.values())


def rung_scores(trials: Sequence[Trial], storage: Storage) -> RungScores | None:
    """Return the scores of trials with early stopping, which are compared within a model."""
    rule = trials[0].early_stopping
    if rule is None:
        return None
    keys: dict[str, list[list[str]]] = {}
    for seeds in by_configuration(trials):
        keys.setdefault(seeds[0].config.model, []).append([trial.key for trial in seeds])
    return RungScores(storage, rule, keys, max(trial.config.max_epochs for trial in trials))


def grid_hash(trials: Iterable[Trial]) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of the trials' keys, in their order.

    It covers a sequential search, but not its number of points: more points continue it.
    """
    lines = [f"{t.key} {replace(t.search, points=None)}" if t.search else t.key for t in trials]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
