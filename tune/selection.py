"""The best configuration of a model, by dev accuracy alone. No Ray."""

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
    """The winner of one model: its configuration with the first seed, and a record per seed.

    considered: configurations compared. tied: those with the winner's accuracy, itself included.
    """

    config: TrialConfig
    records: tuple[TrialRecord, ...]
    considered: int
    tied: int

    @property
    def dev_accuracy(self) -> float:
        """Mean over seeds."""
        return mean_accuracy(self.records)

    @property
    def dev_accuracy_sd(self) -> float | None:
        """Sample standard deviation over seeds; None for one seed."""
        return sample_sd([record.best.dev_accuracy for record in self.records])


def sample_sd(values: Sequence[float]) -> float | None:
    """Sample standard deviation over seeds; None for one seed, which has no spread."""
    return statistics.stdev(values) if len(values) > 1 else None


def mean_accuracy(records: Sequence[TrialRecord]) -> float:
    """Mean over seeds of the dev accuracy at each run's best epoch."""
    return statistics.fmean(record.best.dev_accuracy for record in records)


def tie_value(records: Sequence[TrialRecord], rule: str, position: int) -> float:
    """What a tie rule compares; smaller wins."""
    if rule == "grid_order":
        return position
    if rule == "parameters":
        return records[0].parameters
    values = [getattr(record.best, rule) for record in records]
    mean = statistics.fmean(0.0 if value is None else value for value in values)
    return math.inf if math.isnan(mean) else mean  # nan is neither smaller nor larger


def is_sound(records: Sequence[TrialRecord]) -> bool:
    """Whether no run diverged, nor was best with a loss that is not finite."""
    return all(not r.diverged and math.isfinite(r.best.dev_loss) for r in records)


def select_best(records: Sequence[TrialRecord], ties: Sequence[str]) -> dict[str, Selected]:
    """Choose per model, in the sweep's order, the configuration of the highest mean dev accuracy.

    One that diverged with any seed comes after all that did not, however good it was before.
    ties: rules for equal accuracies, in their order; keys of TIE_RULES.
    """
    points: dict[TrialConfig, list[TrialRecord]] = {}
    for record in records:
        config = trial_from_dict(record.config)
        points.setdefault(replace(config, seed=0), []).append(record)
    winners: dict[str, Selected] = {}
    for model in dict.fromkeys(config.model for config in points):
        group = [found for config, found in points.items() if config.model == model]
        scores = [(not is_sound(found), -mean_accuracy(found)) for found in group]
        breaks = [[tie_value(found, rule, i) for rule in ties] for i, found in enumerate(group)]
        first = min(range(len(group)), key=lambda i: (scores[i], breaks[i]))
        config, tied = trial_from_dict(group[first][0].config), scores.count(scores[first])
        winners[model] = Selected(config, tuple(group[first]), len(group), tied)
    return winners
