"""Graves' tasks (2016, section 3): error and steps of recurrent networks with and without ACT."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from reports import format as fmt
from reports.blocks import Chart, Section, StudyReport, Table
from reports.charts import marks
from reports.load import Artifacts
from reports.statistics import mean_sd, t_interval, verdicts
from studies.sequences.report_characters import CHARACTERS, NONE, characters_parts
from studies.sequences.tables import COLUMNS

RUN = ["task", "run"]
PENALTY = "log10 of the ponder weight"
# Published results of Graves (arXiv:1603.08983), mostly read off its charts.
TASKS = pd.read_csv(Path(__file__).with_name("published.csv"), dtype=str).set_index("task")


def runs(data: Artifacts) -> pd.DataFrame:
    """Return the runs over seeds: error, steps, parameters, and the relation to difficulty.

    slope: steps per unit of difficulty, by least squares; pearson: their correlation. gap: the
    difference in error from the best run without halting, paired by seed.
    """
    renamed = {"dev_error": "error", "dev_mean_steps": "mean_steps"}
    results = data["sequences/results"].rename(columns=renamed)
    results = results.merge(_growth(data["sequences/difficulty"]), "left", on=[*RUN, "seed"])
    by, columns = [*RUN, "halting", "ponder_weight"], ["error", "mean_steps", "slope", "pearson"]
    frame = mean_sd(results, by, columns, first=["parameters"], total=["diverged"])
    frame = frame.assign(name=frame["run"].map(fmt.settings))
    return frame.merge(against_none(results, frame, "error"), "left", on=RUN)


def _growth(difficulty: pd.DataFrame) -> pd.DataFrame:
    """Relate mean steps to difficulty within each seed; r is missing for constant steps."""
    rows = []
    valid = difficulty.dropna(subset=["mean_steps"])
    for key, group in valid.groupby([*RUN, "seed"], sort=False):
        x, y = group["difficulty"].to_numpy(float), group["mean_steps"].to_numpy(float)
        if len(x) > 1:
            pearson = np.corrcoef(x, y)[0, 1] if np.ptp(y) > 0 else np.nan
            rows.append([*key, np.polyfit(x, y, 1)[0], pearson])
    return pd.DataFrame(rows, columns=[*RUN, "seed", "slope", "pearson"])


def against_none(results: pd.DataFrame, frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Compare each run with the best run without halting of its task, paired by seed."""
    rows = []
    for task, group in frame.groupby("task", sort=False):
        without = group[group["halting"] == NONE].sort_values(f"{column}_mean", kind="stable")
        if without.empty:
            continue
        best = without["run"].iloc[0]
        table = results[results["task"] == task].pivot(index="seed", columns="run", values=column)
        for run in group["run"]:
            gap = (table[run] - table[best]).dropna().round(12)
            if run != best and len(gap):
                mean, sd = gap.mean(), gap.std()
                rows.append([task, run, mean, sd, *t_interval(mean, sd, len(gap)).values()])
    columns = [*RUN, "gap_mean", "gap_sd", "difference", "low", "high", "p"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(verdict=verdicts(table, "p"))


def section(data: Artifacts, _claims: pd.DataFrame) -> Section:
    """Return a table and charts of each task."""
    frame = runs(data)
    parts: list[Table | Chart] = []
    for task, rows in frame.groupby("task", sort=False):
        if task in TASKS.index:
            parts += _task(data, rows, str(task))
    if CHARACTERS in set(frame["task"]):
        parts += characters_parts(data)
    return Section(
        "Graves' tasks: ACT in recurrent networks",
        parts,
        "Sequence error is the fraction of dev sequences with any mistake at a run's best epoch, "
        "so the best of several settings is optimistic. Differences are from the best run without "
        "halting, tested with Student's t over seeds, uncorrected.",
    )


def _task(data: Artifacts, frame: pd.DataFrame, task: str) -> Iterator[Table | Chart]:
    info = TASKS.loc[task]
    columns: dict[str, fmt.Cell] = {
        "run": fmt.text("name"),
        "seeds": fmt.count("error_n"),
        "sequence error, %": fmt.percent("error"),
        "minus no halting, points": fmt.number("gap", scale=100, sign=True),
        "significance (uncorrected)": fmt.text("verdict"),
        "mean steps per input": fmt.number("mean_steps"),
        f"steps per {info.difficulty}": fmt.number("slope", sign=True),
        "r(steps, difficulty)": fmt.number("pearson_mean", sign=True),
        "parameters": fmt.count("parameters"),
        "diverged": lambda row: f"{row['diverged']} of {row['error_n']}",
    }
    yield Table(f"sequences_{task}", frame, columns, f"{info.title}. {info.reported}")
    if (frame["halting"] != NONE).any():
        yield _scatter(frame, task)
    yield from _along(data, task)
    difficulty, penalty = data.select("sequences/difficulty", task=task), by_penalty(data, task)
    history = data.select("sequences/history", task=task)
    panels = [
        ("difficulty", difficulty, "difficulty", "error", f"{info.counted_in} in error (%)"),
        ("steps", difficulty, "difficulty", "mean_steps", "mean steps per input"),
        ("curves", history, "epoch", "dev_error", "sequence error (%)"),
        ("penalty", penalty, PENALTY, "dev_error", "sequence error (%)"),
    ]
    name = f"sequences_{{}}_{task}"
    yield from marks.curves(name, info.title, panels, difficulty=info.difficulty)


def by_penalty(data: Artifacts, task: str) -> pd.DataFrame:
    """Return the runs with ACT by time penalty, and at each those without (figures 4 to 17)."""
    rows = data.select("sequences/results", task=task)
    act = rows[rows["halting"] == "act"].assign(run="ACT")
    act[PENALTY] = np.log10(act["ponder_weight"])
    if act[PENALTY].nunique() < 2:
        return act[:0]
    without = rows[rows["halting"] == NONE][["run", "seed", "dev_error"]]
    return pd.concat([act, without.merge(act[[PENALTY]].drop_duplicates(), how="cross")])


def _along(data: Artifacts, task: str) -> Iterator[Table | Chart]:
    """Yield the steps along one sequence (Graves' figures 15 and 20)."""
    rows = data.select("sequences/along", task=task)
    if rows.empty:
        return
    by, runs = ["position", "input", "target"], dict.fromkeys(rows["run"])
    frame = rows.pivot(index=by, columns="run", values="ponder").reset_index()
    columns: dict[str, fmt.Cell] = {name: fmt.text(name) for name in by}
    columns |= {run: fmt.optional(run, "{:.2f}".format) for run in runs}
    caption = "One sequence, network of the first seed: N + R at each input."
    yield Table(f"sequences_along_{task}", frame, columns, caption, text_columns=3)
    title = f"{TASKS.loc[task, 'title']}, one sequence"
    panels = [("along", rows, "position", "ponder", "N + R")]
    yield from marks.curves(f"sequences_{{}}_{task}", title, panels)


def _scatter(frame: pd.DataFrame, task: str) -> Chart:
    """Draw error against steps, a series per mechanism; a network without halting takes one."""
    names = frame["halting"].map(lambda halting: fmt.MECHANISMS.get(halting, "without halting"))
    steps = frame["mean_steps_mean"].fillna(1)
    frame = frame.assign(series=names, mean_steps_mean=steps).sort_values("mean_steps_mean")
    x, y = ("mean_steps", "mean steps per input"), ("error", "sequence error (%)")
    layers = marks.scatter(frame, x, y, tips=["name:N"])
    title = f"{TASKS.loc[task, 'title']}: error against steps"
    return marks.chart(f"sequences_halting_{task}", title, layers, half=True)


STUDY = StudyReport(COLUMNS, section, run=("task", "run"))
