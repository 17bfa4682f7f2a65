"""Graves' tasks (2016, section 3): errors and steps of recurrent networks with and without ACT."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd

from reports.blocks import Chart, Section, Table
from reports.charts import marks
from reports.format import MECHANISMS, Cell, count, number, percent, text
from reports.load import Artifacts
from reports.published.results import CHARACTERS, NONE, TASKS
from reports.sections.characters import characters_parts
from reports.sections.halting import label
from reports.statistics import mean_sd, t_interval, verdicts

RUN = ["task", "run"]
Panel: TypeAlias = tuple[str, pd.DataFrame, str, str, str]  # name, rows, x, column, title of y


def runs(data: Artifacts) -> pd.DataFrame:
    """Return error, steps and parameters of the runs over their seeds.

    In addition slope (steps per unit of difficulty, least squares) and pearson, and the difference
    in error to the best run without halting, paired by seed, with its interval, p and verdict.
    """
    renamed = {"dev_error": "error", "dev_mean_steps": "mean_steps"}
    results = data["sequences/results"].rename(columns=renamed)
    results = results.merge(_growth(data["sequences/difficulty"]), "left", on=[*RUN, "seed"])
    by, columns = [*RUN, "halting", "ponder_weight"], ["error", "mean_steps", "slope", "pearson"]
    frame = mean_sd(results, by, columns, first=["parameters"], total=["diverged"])
    frame = frame.assign(name=frame["run"].map(label))
    return frame.merge(against_none(results, frame, "error"), "left", on=RUN)


def _growth(difficulty: pd.DataFrame) -> pd.DataFrame:
    """Relate mean steps to difficulty within each seed; r is missing where steps never change."""
    rows = []
    known = difficulty.dropna(subset=["mean_steps"])
    for place, one in known.groupby([*RUN, "seed"], sort=False):
        x, y = one["difficulty"].to_numpy(float), one["mean_steps"].to_numpy(float)
        if len(x) > 1:
            pearson = np.corrcoef(x, y)[0, 1] if np.ptp(y) > 0 else np.nan
            rows.append([*place, np.polyfit(x, y, 1)[0], pearson])
    return pd.DataFrame(rows, columns=[*RUN, "seed", "slope", "pearson"])


def against_none(results: pd.DataFrame, frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Compare each run with the best one without halting of its task, seed by seed."""
    rows = []
    for task, of in frame.groupby("task", sort=False):
        without = of[of["halting"] == NONE].sort_values(f"{column}_mean", kind="stable")
        if without.empty:
            continue
        best = without["run"].iloc[0]
        table = results[results["task"] == task].pivot(index="seed", columns="run", values=column)
        for run in of["run"]:
            gap = (table[run] - table[best]).dropna().round(12)
            if run != best and len(gap):
                found = t_interval(gap.mean(), gap.std(), len(gap))
                gaps = {"gap_mean": gap.mean(), "gap_sd": gap.std()}
                rows.append({"task": task, "run": run} | gaps | found)
    empty = [*RUN, "gap_mean", "gap_sd", "difference", "low", "high", "p"]
    found = pd.DataFrame(rows, columns=empty)
    return found.assign(verdict=verdicts(found, "p"))


def graves_section(data: Artifacts) -> Section | None:
    """Return table and charts of each task; None where none was run."""
    if data["sequences/results"].empty:
        return None
    frame = runs(data)
    tasks = [task for task in dict.fromkeys(frame["task"]) if task in TASKS.index]
    parts: list[Table | Chart] = []
    for task in tasks:
        parts += _task(data, frame[frame["task"] == task], task)
    if CHARACTERS in set(frame["task"]):
        parts += characters_parts(data)
    return Section(
        "Graves' tasks: ACT in recurrent networks",
        parts,
        "Sequence error is the share of dev sequences with any mistake at a run's best epoch, so "
        "the best of several settings is optimistic. Verdicts are by Student's t over seeds "
        "against the best run without halting, not corrected for their number.",
    )


def _task(data: Artifacts, frame: pd.DataFrame, task: str) -> Iterator[Table | Chart]:
    known = TASKS.loc[task]
    columns: dict[str, Cell] = {
        "run": text("name"),
        "seeds": count("error_n"),
        "sequence error, %": percent("error"),
        "minus without halting, points": number("gap", scale=100, sign=True),
        "verdict": text("verdict"),
        "mean steps per input": number("mean_steps"),
        f"steps per {known.difficulty}": number("slope", sign=True),
        "r": number("pearson_mean", sign=True),
        "parameters": count("parameters"),
        "diverged": lambda row: f"{row['diverged']} of {row['error_n']}",
    }
    yield Table(f"graves_{task}", frame, columns, f"{known.title}. {known.reported}")
    if len({*frame["halting"]} - {NONE}) > 0:
        yield _scatter(frame, task)
    difficulty = data.of("sequences/difficulty", task=task)
    history = data.of("sequences/history", task=task)
    panels = [
        ("difficulty", difficulty, "difficulty", "error", f"{known.counted_in} in error (%)"),
        ("steps", difficulty, "difficulty", "mean_steps", "mean steps per input"),
        ("curves", history, "epoch", "dev_error", "sequence error (%)"),
    ]
    yield from curves(f"graves_{{}}_{task}", known.title, panels, difficulty=known.difficulty)


def curves(name: str, of: str, panels: Sequence[Panel], **across: str) -> Iterator[Chart]:
    """Draw means over seeds, a line for each run, in a chart per panel that has values.

    name: of a chart, with a place for the panel's. across: what x is called, if not by its column.
    """
    for panel, rows, x, column, up in panels:
        known = rows.dropna(subset=[column])
        if known.empty:
            continue
        frame = mean_sd(known, ["run", x], [column]).sort_values(x, kind="stable")
        order = {run: at for at, run in enumerate(dict.fromkeys(rows["run"]))}
        frame = frame.sort_values("run", key=lambda of, order=order: of.map(order), kind="stable")
        names, scale = frame["run"].map(label), 100 if up.endswith("(%)") else 1
        frame = marks.with_band(frame, column, scale, x=frame[x], series=names)
        drawn = marks.lines(frame, across.get(x, x), up)
        heading = f"{of}: {up.partition(' (')[0]} by {x}"
        yield marks.chart(name.format(panel), heading, drawn, half=True)


def _scatter(frame: pd.DataFrame, task: str) -> Chart:
    """Draw error against steps, a series per mechanism; a network without halting takes one."""
    filled = frame.assign(mean_steps_mean=frame["mean_steps_mean"].fillna(1))
    names = frame["halting"].map(lambda halting: MECHANISMS.get(halting, "without halting"))
    placed = marks.with_bands(filled, "mean_steps", "error", series=names).sort_values("x")
    across, up = "mean steps per input", "sequence error (%)"
    drawn = marks.scatter(placed, across, up, tips=["name:N"])
    heading = f"{TASKS.loc[task, 'title']}: error against steps"
    return marks.chart(f"graves_halting_{task}", heading, drawn, half=True)
