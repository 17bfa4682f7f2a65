"""What the grid search found: best configurations, margins of settings, steps as trials train."""

import math
from dataclasses import dataclass
from statistics import fmean, median
from typing import NamedTuple

import pandas as pd

from actmodels.config import setting_types
from reports.blocks import Cell, Table, csv_text
from reports.spread import Spread, cells, setting, title
from reports.stored.artefacts import LIMITS, Artefacts

TOP = 5


@dataclass(frozen=True)
class Group:
    """Trials that share something: all of their settings, or one.

    values: the shared settings by name; best: whether select_best chose them.
    """

    values: dict[str, str]
    trials: int
    dev_accuracy: Spread
    dev_loss: float
    mean_steps: float | None
    best: bool = False


def trials_of(artefacts: Artefacts, model: str) -> pd.DataFrame:
    """A model's trials in grid order."""
    return artefacts.trials[artefacts.trials["model"] == model]


def settings_of(artefacts: Artefacts, model: str) -> tuple[str, ...]:
    """The settings of a model's trials, in stored order."""
    own = {*setting_types(model), *LIMITS}
    return tuple(name for name in artefacts.settings if name in own)


def varied(artefacts: Artefacts, model: str) -> tuple[str, ...]:
    """The settings that take more than one value in a model's grid, in stored order."""
    trials = trials_of(artefacts, model)
    return tuple(s for s in settings_of(artefacts, model) if trials[s].nunique() > 1)


def _group(values: dict[str, str], trials: pd.DataFrame, best: bool = False) -> Group:
    steps = trials["dev_mean_steps"]
    return Group(
        values=values,
        trials=len(trials),
        dev_accuracy=Spread.of(trials["dev_accuracy"]),
        dev_loss=Spread.of(trials["dev_loss"]).mean,
        mean_steps=Spread.of(steps).mean if steps.notna().all() else None,
        best=best,
    )


def configurations(artefacts: Artefacts, model: str) -> list[Group]:
    """A model's configurations over their seeds, the highest mean dev accuracy first.

    Equal ones stay in grid order, but the chosen one leads them.
    """
    trials, names = trials_of(artefacts, model), varied(artefacts, model)
    chosen = set(artefacts.best[model]["keys"]) if model in artefacts.best else set()
    groups = [
        _group({n: str(rows[n].iloc[0]) for n in names}, rows, bool(chosen & set(rows["key"])))
        for _, rows in trials.groupby(list(settings_of(artefacts, model)), sort=False)
    ]
    return sorted(groups, key=lambda g: (-g.dev_accuracy.mean, not g.best))


def margins(artefacts: Artefacts, model: str) -> list[Group]:
    """Each value of each varied setting, over all trials that have it, in grid order."""
    trials = trials_of(artefacts, model)
    return [
        _group({name: str(value)}, rows)
        for name in varied(artefacts, model)
        for value, rows in trials.groupby(name, sort=False)
    ]


def sweep_models(artefacts: Artefacts) -> tuple[str, ...]:
    """The models of the sweep in grid order."""
    return tuple(dict.fromkeys(artefacts.trials["model"]))


def range_table(artefacts: Artefacts) -> Table:
    """Trials and range of dev accuracy of each model."""
    rows = []
    for model in sweep_models(artefacts):
        trials = trials_of(artefacts, model)
        accuracies = [float(a) for a in trials["dev_accuracy"]]
        figures = (max(accuracies), median(accuracies), min(accuracies))
        counts = [str(len(trials)), str(len(configurations(artefacts, model)))]
        rows.append([title(model), *counts, *(f"{100 * figure:.1f}" for figure in figures)])
    header = ("model", "trials", "configurations", "best dev, %", "median dev, %", "worst dev, %")
    return Table(header, rows)


def diverged(artefacts: Artefacts) -> str:
    """How many trials met a loss that is not finite; empty if none did."""
    count = int(artefacts.trials["diverged"].sum())
    trials = "trial" if count == 1 else "trials"
    return f" {count} {trials} diverged, and stand with their epochs before." if count else ""


def top_table(artefacts: Artefacts, model: str) -> Table:
    """The best configurations of a model by mean dev accuracy over the sweep's seeds."""
    groups = configurations(artefacts, model)[:TOP]
    names = varied(artefacts, model)
    halts = groups[0].mean_steps is not None
    header = ["rank", *names, "seeds", "dev accuracy, %", "dev loss, nats"]
    header += ["mean steps"] if halts else []
    rows = []
    for rank, group in enumerate(groups, start=1):
        row = [f"{rank} (chosen)" if group.best else str(rank)]
        row += [setting(group.values[n]) for n in names]
        row += [str(group.trials), group.dev_accuracy.percent(), f"{group.dev_loss:.3f}"]
        rows.append([*row, f"{group.mean_steps:.2f}"] if halts else row)
    return Table(header, rows)


def margin_table(artefacts: Artefacts, model: str) -> Table:
    """Mean dev accuracy of all trials that share a value."""
    groups = margins(artefacts, model)
    halts = any(group.mean_steps is not None for group in groups)
    header = ["setting", "value", "trials", "dev accuracy, %"] + (["mean steps"] if halts else [])
    rows = []
    for group in groups:
        ((name, value),) = group.values.items()
        row = [name, setting(value), str(group.trials), group.dev_accuracy.percent()]
        rows.append([*row, f"{group.mean_steps:.2f}"] if halts else row)
    return Table(header, rows)


def sweep_csv(artefacts: Artefacts) -> str:
    """One row per model (no setting) and per value of each varied setting; shares in [0, 1]."""
    header = ["model", "setting", "value", "trials", "dev_accuracy_mean", "dev_accuracy_sd"]
    header += ["dev_loss_mean", "mean_steps"]
    rows: list[list[Cell]] = []
    for model in sweep_models(artefacts):
        whole = _group({"": ""}, trials_of(artefacts, model))
        for group in (whole, *margins(artefacts, model)):
            ((name, value),) = group.values.items()
            figures: list[Cell] = [group.dev_accuracy.mean, group.dev_accuracy.sd, group.dev_loss]
            rows.append([model, name, value, group.trials, *figures, group.mean_steps])
    return csv_text(header, rows)


class Epoch(NamedTuple):
    """One epoch of the sweep's trials with one ponder weight: steps, with the sd between pairs.

    Means are means over the trials that reached this epoch, sds roots of mean squares.
    """

    ponder_weight: str
    epoch: int
    train: Spread
    dev: Spread


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
    by_epoch = history.groupby([history["key"].map(weights), "epoch"], sort=True)
    found = [
        Epoch(str(of[0]), int(str(of[1])), _pooled(rows, "train"), _pooled(rows, "dev"))
        for of, rows in by_epoch
    ]
    return sorted(found, key=lambda epoch: (float(epoch.ponder_weight), epoch.epoch))


def _pooled(rows: pd.DataFrame, part: str) -> Spread:
    sd = math.sqrt(fmean(rows[f"{part}_sd_steps"] ** 2))
    return Spread(round(fmean(rows[f"{part}_mean_steps"]), 12), round(sd, 12), len(rows))


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
        f"{end.dev.mean:.2f} per dev pair (sd {end.dev.sd:.2f}) at ponder weight "
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
            rows.append([model, e.ponder_weight, e.epoch, e.dev.n, *cells(e.train), *cells(e.dev)])
    return csv_text(header, rows)
