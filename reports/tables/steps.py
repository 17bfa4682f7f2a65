"""Steps during training by ponder weight (thesis figures 6.3 and 6.4), from the sweep's trials."""

import math
from dataclasses import dataclass
from statistics import fmean

import pandas as pd

from actmodels.config import setting_types
from reports.markdown import Cell, csv_text
from reports.spread import setting, title
from reports.stored.artefacts import Artefacts
from reports.tables.sweep import sweep_models, trials_of


@dataclass(frozen=True)
class Epoch:
    """One epoch of the sweep's trials with one ponder weight; sds are between pairs.

    trials: how many reached this epoch. Means are means over them, sds roots of mean squares.
    """

    ponder_weight: str
    epoch: int
    trials: int
    train_mean: float
    train_sd: float
    dev_mean: float
    dev_sd: float


def ponder_weights(artefacts: Artefacts, model: str) -> list[str]:
    """The ponder weights of a model's grid, smallest first; none without such a setting."""
    if "ponder_weight" not in setting_types(model):
        return []
    return sorted(set(trials_of(artefacts, model)["ponder_weight"]), key=float)


def weighed_models(artefacts: Artefacts) -> tuple[str, ...]:
    """The swept models with more than one ponder weight."""
    return tuple(m for m in sweep_models(artefacts) if len(ponder_weights(artefacts, m)) > 1)


def steps_by_epoch(artefacts: Artefacts, model: str) -> list[Epoch]:
    """Steps by ponder weight, smallest first, and epoch."""
    weights = trials_of(artefacts, model).set_index("key")["ponder_weight"]
    history = artefacts.sweep_history[artefacts.sweep_history["key"].isin(weights.index)]
    history = history.assign(weight=history["key"].map(weights))
    return [
        _epoch(weight, epoch, history[(history["weight"] == weight) & (history["epoch"] == epoch)])
        for weight in ponder_weights(artefacts, model)
        for epoch in sorted(set(history["epoch"][history["weight"] == weight]))
    ]


def _epoch(weight: str, epoch: int, rows: pd.DataFrame) -> Epoch:
    return Epoch(
        ponder_weight=weight,
        epoch=int(epoch),
        trials=len(rows),
        train_mean=round(fmean(rows["train_mean_steps"]), 12),
        train_sd=round(math.sqrt(fmean(rows["train_sd_steps"] ** 2)), 12),
        dev_mean=round(fmean(rows["dev_mean_steps"]), 12),
        dev_sd=round(math.sqrt(fmean(rows["dev_sd_steps"] ** 2)), 12),
    )


def training_note() -> str:
    """What the figures show."""
    return (
        "Lines are means over the sweep's trials with that ponder weight that reached the epoch, "
        "bands one sd between dev pairs (the root of the trials' mean variance). Steps of training "
        "pairs are counted with dropout, while the parameters change; those of dev pairs at the "
        "end of each epoch. The other figures have the best epoch of each trial. All ponder "
        "weights are in `steps_by_epoch.csv`."
    )


def training_sentence(artefacts: Artefacts, model: str) -> str:
    """Where the steps of the smallest and the largest ponder weight end."""
    last = list({epoch.ponder_weight: epoch for epoch in steps_by_epoch(artefacts, model)}.values())
    least, most = (
        f"{end.dev_mean:.2f} per dev pair (sd {end.dev_sd:.2f}) at ponder weight "
        f"{setting(end.ponder_weight)}"
        for end in (last[0], last[-1])
    )
    return f"{title(model)}: after the last epoch mean steps are {least} and {most}."


def steps_csv(artefacts: Artefacts) -> str:
    """One row per model, ponder weight and epoch."""
    header = ["model", "ponder_weight", "epoch", "trials", "train_mean_steps", "train_sd_steps"]
    header += ["dev_mean_steps", "dev_sd_steps"]
    rows: list[list[Cell]] = []
    for model in weighed_models(artefacts):
        for e in steps_by_epoch(artefacts, model):
            place: list[Cell] = [model, e.ponder_weight, e.epoch, e.trials]
            rows.append([*place, e.train_mean, e.train_sd, e.dev_mean, e.dev_sd])
    return csv_text(header, rows)
