"""Graves' tasks (2016, section 3): errors and steps of recurrent networks with and without ACT."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import StatisticsError, correlation, linear_regression
from typing import TypeVar

import pandas as pd

from reports.blocks import Cell, Table, csv_text
from reports.spread import Spread, along, by_seed, cells, plain, setting
from reports.stored.artefacts import Artefacts
from reports.studies.graves.tasks import ACT, NONE, TASKS

NUMBER = re.compile(r"(?<!\S)\d[\d.]*e[+-]?\d+(?![^\s,])")  # such as 5e-05


@dataclass(frozen=True)
class Growth:
    """How the mean steps of an input follow its difficulty, seed by seed.

    slope: steps for each unit of difficulty, by least squares over the difficulties.
    pearson: over the same; None where steps never change with any seed.
    """

    slope: Spread
    pearson: Spread | None

    @property
    def told_by(self) -> Spread:
        """What says whether it is clear: r, since seeds may differ much in how many steps."""
        return self.slope if self.pearson is None else self.pearson


@dataclass(frozen=True)
class Run:
    """One way to train a network on a task, over its seeds; figures are on dev, at best epochs.

    errors: seed -> share of sequences with any mistake, and error their spread.
    steps: per input; None without halting. diverged: of how many seeds training diverged.
    growth: None without steps, or where only one difficulty is known.
    """

    name: str
    halting: str
    ponder_weight: float | None
    errors: Mapping[int, float]
    steps: Spread | None
    parameters: int
    diverged: int
    growth: Growth | None

    @property
    def compared(self) -> Mapping[int, float]:
        """What runs are compared by, seed by seed; less is better."""
        return self.errors

    @property
    def error(self) -> Spread:
        """Sequence error in [0, 1]."""
        return Spread.of(list(self.errors.values()))

    @property
    def label(self) -> str:
        """The name as a reader writes numbers."""
        return NUMBER.sub(lambda found: setting(found[0]), self.name)


AnyRun = TypeVar("AnyRun", bound=Run)


def graves_tasks(artefacts: Artefacts) -> tuple[str, ...]:
    """The tasks with difficulties that were trained on, in stored order."""
    return tuple(task for task in dict.fromkeys(artefacts.graves["task"]) if task in TASKS)


def graves_runs(artefacts: Artefacts, task: str) -> list[Run]:
    """The runs of a task, in stored order."""
    results = artefacts.graves[artefacts.graves["task"] == task]
    return [_run(artefacts, task, str(n), r) for n, r in results.groupby("run", sort=False)]


def _run(artefacts: Artefacts, task: str, name: str, rows: pd.DataFrame) -> Run:
    weight = rows["ponder_weight"].iloc[0]
    return Run(
        name=name,
        halting=str(rows["halting"].iloc[0]),
        ponder_weight=None if pd.isna(weight) else float(weight),
        errors=dict(zip(map(int, rows["seed"]), map(float, rows["dev_error"]), strict=True)),
        steps=Spread.known(rows["dev_mean_steps"]),
        parameters=int(rows["parameters"].iloc[0]),
        diverged=int(rows["diverged"].sum()),
        growth=_growth(of_run(artefacts.graves_difficulty, task, name)),
    )


def of_run(table: pd.DataFrame, task: str, run: str) -> pd.DataFrame:
    """The rows of a run on a task."""
    return table[(table["task"] == task) & (table["run"] == run)]


def _growth(rows: pd.DataFrame) -> Growth | None:
    slopes, pearsons = [], []
    for _, one in rows.dropna(subset=["mean_steps"]).groupby("seed", sort=False):
        levels, steps = list(map(float, one["difficulty"])), list(map(float, one["mean_steps"]))
        if len(levels) < 2:
            continue
        slopes.append(linear_regression(levels, steps).slope)
        try:
            pearsons.append(correlation(levels, steps))
        except StatisticsError:  # steps that are the same for all
            continue
    if not slopes:
        return None
    return Growth(Spread.of(slopes), Spread.of(pearsons) if pearsons else None)


def by_difficulty(artefacts: Artefacts, task: str, run: Run, figure: str) -> dict[int, Spread]:
    """`error` or `mean_steps` of a run's instances by difficulty, where there are any."""
    return along(of_run(artefacts.graves_difficulty, task, run.name), "difficulty", figure)


def graves_curve(artefacts: Artefacts, task: str, run: Run) -> dict[int, Spread]:
    """Sequence error on dev by epoch, over the seeds that reached it."""
    rows = of_run(artefacts.graves_history, task, run.name)
    return along(rows, "epoch", "dev_error")


def best_run(runs: Iterable[AnyRun], halting: str) -> AnyRun | None:
    """The run that is best on dev of those that halt so; the first of equals."""
    of = [run for run in runs if run.halting == halting]
    return min(of, key=lambda run: Spread.of(list(run.compared.values())).mean, default=None)


def gap_of(run: Run, other: Run) -> Spread | None:
    """A run minus another in what they are compared by; None if they share no seed."""
    return by_seed(run.compared, other.compared)


def act_gap(runs: list[Run]) -> Spread | None:
    """Error of ACT at its best ponder weight minus that without ACT; None where either lacks."""
    act, without = best_run(runs, ACT), best_run(runs, NONE)
    return None if act is None or without is None else gap_of(act, without)


def graves_table(artefacts: Artefacts, task: str) -> Table:
    """One row per run."""
    runs = graves_runs(artefacts, task)
    diverged = any(run.diverged for run in runs)
    header = ["run", "seeds", "sequence error, %", "mean steps per input", "parameters"]
    rows = []
    for run in runs:
        row = [run.label, str(run.error.n), run.error.percent()]
        row += [plain(run.steps), f"{run.parameters:,}"]
        rows.append([*row, f"{run.diverged} of {run.error.n}"] if diverged else row)
    return Table([*header, "runs diverged"] if diverged else header, rows)


def graves_csv(artefacts: Artefacts) -> str:
    """Every run; errors in [0, 1], `minus_without` against the best run without ACT."""
    header = ["task", "run", "halting", "ponder_weight", "seeds", "diverged", "parameters"]
    header += ["dev_error_mean", "dev_error_sd", "mean_steps_mean", "mean_steps_sd"]
    header += ["minus_without_mean", "minus_without_sd", "steps_per_difficulty_mean"]
    header += ["steps_per_difficulty_sd", "steps_against_difficulty_pearson"]
    rows: list[list[Cell]] = []
    for task in graves_tasks(artefacts):
        runs = graves_runs(artefacts, task)
        without = best_run(runs, NONE)
        for run in runs:
            gap = None if without is None or run is without else gap_of(run, without)
            row: list[Cell] = [task, run.name, run.halting, run.ponder_weight, run.error.n]
            row += [run.diverged, run.parameters, *cells(run.error), *cells(run.steps)]
            slope, pearson = (run.growth.slope, run.growth.pearson) if run.growth else (None, None)
            row += [*cells(gap), *cells(slope)]
            rows.append([*row, cells(pearson)[0]])
    return csv_text(header, rows)
