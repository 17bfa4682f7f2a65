"""Select the best configuration of each model by dev accuracy. Does not import Ray."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from actmodels.records import TrialRecord
from actmodels.trial_config import TrialConfig, trial_from_dict

TIE_RULES = {
    "dev_loss": "lower dev loss",
    "dev_mean_steps": "fewer inference steps",
    "parameters": "fewer parameters",
    "grid_order": "first in the grid",
}


@dataclass(frozen=True)
class Selected:
    """The best configuration of a model, with the first seed, and its record for each seed.

    considered: number of configurations. tied: number with the best accuracy, this one included.
    """

    config: TrialConfig
    records: tuple[TrialRecord, ...]
    considered: int
    tied: int

    @property
    def dev_accuracy(self) -> float:
        """The mean over seeds."""
        return mean_accuracy(self.records)

    @property
    def dev_accuracy_sd(self) -> float | None:
        """The sample standard deviation over seeds; None for one seed."""
        return sample_sd([record.best.dev_accuracy for record in self.records])


def sample_sd(values: Sequence[float]) -> float | None:
    """Return the sample standard deviation over seeds; None for one seed."""
    return statistics.stdev(values) if len(values) > 1 else None


def mean_accuracy(records: Sequence[TrialRecord]) -> float:
    """Return the mean over seeds of the dev accuracy at each run's best epoch."""
    return statistics.fmean(record.best.dev_accuracy for record in records)


def tie_value(records: Sequence[TrialRecord], rule: str, position: int) -> float:
    """Return the value that a tie rule compares; the smallest wins."""
    if rule == "grid_order":
        return position
    if rule == "parameters":
        return records[0].parameters
    values = [getattr(record.best, rule) for record in records]
    mean = statistics.fmean(0.0 if value is None else value for value in values)
    return math.inf if math.isnan(mean) else mean  # nan does not compare


def is_finite(records: Sequence[TrialRecord]) -> bool:
    """Return whether no run diverged, and all have a finite dev loss at their best epoch."""
    return all(not r.diverged and math.isfinite(r.best.dev_loss) for r in records)


def select_best(records: Sequence[TrialRecord], ties: Sequence[str]) -> dict[str, Selected]:
    """Return each model's configuration of the highest mean dev accuracy, in the sweep's order.

    A configuration that diverged with any seed ranks below all that did not.
    ties: rules for equal accuracies, in their order; keys of TIE_RULES.
    """
    points: dict[TrialConfig, list[TrialRecord]] = {}
    for record in records:
        config = trial_from_dict(record.config)
        points.setdefault(replace(config, seed=0), []).append(record)
    winners: dict[str, Selected] = {}
    for model in dict.fromkeys(config.model for config in points):
        group = [runs for config, runs in points.items() if config.model == model]
        scores = [(not is_finite(runs), -mean_accuracy(runs)) for runs in group]
        breaks = [[tie_value(runs, rule, i) for rule in ties] for i, runs in enumerate(group)]
        first = min(range(len(group)), key=lambda i: (scores[i], breaks[i]))
        config, tied = trial_from_dict(group[first][0].config), scores.count(scores[first])
        winners[model] = Selected(config, tuple(group[first]), len(group), tied)
    return winners
