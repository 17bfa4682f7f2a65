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
        accuracies = [record.best.dev_accuracy for record in self.records]
        return statistics.stdev(accuracies) if len(accuracies) > 1 else None


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


def is_lost(record: TrialRecord) -> bool:
    """Return whether a run diverged, or has no finite dev loss at its best epoch."""
    return record.diverged or not math.isfinite(record.best.dev_loss)


def lost_models(records: Sequence[TrialRecord]) -> dict[str, str]:
    """Return the models all of whose runs diverged, each with a sentence on its settings."""
    lost = dict[str, str]()
    for model in dict.fromkeys(record.config["model"] for record in records):
        own = [record for record in records if record.config["model"] == model]
        if all(map(is_lost, own)):
            settings = [trial_from_dict(record.config).flat() for record in own]
            values = {
                name: sorted({of[name] for of in settings})
                for name in ("optimizer", "learning_rate", "clip_norm")
            }
            used = ", ".join(f"{name} {' '.join(map(str, each))}" for name, each in values.items())
            lost[model] = f"{model}: all {len(own)} trials diverged ({used}); lower learning_rate"
    return lost


def at_one_rung(records: Sequence[TrialRecord]) -> tuple[TrialRecord, ...]:
    """Return the runs of a configuration up to the first rung where one was stopped.

    A mean over seeds is of equal epochs, whatever stopped them.
    """
    rung = min((len(record.history) for record in records if record.stopped), default=None)
    return tuple(replace(record, history=record.history[:rung]) for record in records)


def select_best(records: Sequence[TrialRecord], ties: Sequence[str]) -> dict[str, Selected]:
    """Return each model's configuration of the highest mean dev accuracy, in the sweep's order.

    Configurations rank first by the number of seeds that diverged. `lost_models` have none.
    ties: rules for equal accuracies, in their order; keys of TIE_RULES.
    """
    lost = lost_models(records)
    points: dict[TrialConfig, list[TrialRecord]] = {}
    for record in records:
        if (config := trial_from_dict(record.config)).model in lost:
            continue
        points.setdefault(replace(config, seed=0), []).append(record)
    winners: dict[str, Selected] = {}
    for model in dict.fromkeys(config.model for config in points):
        group = [at_one_rung(runs) for config, runs in points.items() if config.model == model]
        scores = [(sum(map(is_lost, runs)), -mean_accuracy(runs)) for runs in group]
        breaks = [[tie_value(runs, rule, i) for rule in ties] for i, runs in enumerate(group)]
        first = min(range(len(group)), key=lambda i: (scores[i], breaks[i]))
        config, tied = trial_from_dict(group[first][0].config), scores.count(scores[first])
        winners[model] = Selected(config, group[first], len(group), tied)
    return winners
