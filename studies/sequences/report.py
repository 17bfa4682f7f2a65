"""Graves' tasks (2016, section 3): error and steps of recurrent networks with and without ACT.

Of characters (section 3.5) the report has bits per character, and steps along a passage.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd

from reports import format as fmt
from reports import marks
from reports.blocks import Chart, Section, StudyReport, Table
from reports.load import Artifacts
from reports.marks import BLUE, INK, ORANGE
from reports.statistics import mean_sd, t_interval, verdicts
from studies.sequences.tables import COLUMNS

CHARACTERS = "characters"  # the task without difficulty levels
NONE = "none"  # `halting` of a run without halting
ON_CHARACTERS = (
    "Graves (3.5; LSTM 1500, windows of 500 bytes) reports similar bits with and without ACT, "
    "and more steps at spaces, commas, full stops and markup."
)
NATS = math.log(2)  # per bit
LETTER = "letter"
LINE = 40  # bytes per line: the width of a phone
HEIGHT = 58  # px per line
# Fractions of a line: half a bar's width, its base, the longest bars upward and downward
HALF, BASE, UP, DOWN = 0.38, 0.17, 0.42, 0.2
SIGNS = {32: "\N{MIDDLE DOT}", 9: "\N{MIDDLE DOT}", 10: "\N{PILCROW SIGN}", 13: "\N{PILCROW SIGN}"}
OTHER = "\N{WHITE SQUARE}"  # a non-printable or non-ASCII byte
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


def readers(data: Artifacts) -> pd.DataFrame:
    """Return the runs over seeds: bits, byte error, steps and ponder cost N + R."""
    rows = data.select("sequences/results", task=CHARACTERS)
    rows = rows.assign(bits=rows["dev_loss"] / NATS).rename(
        columns={"dev_error": "wrong", "dev_mean_steps": "steps", "dev_ponder_cost": "ponder"}
    )
    by, columns = ["run", "halting", "ponder_weight"], ["bits", "wrong", "steps", "ponder"]
    frame = mean_sd(rows, by, columns, first=["parameters"])
    return frame.assign(name=frame["run"].map(fmt.settings))


def byte_classes(data: Artifacts) -> pd.DataFrame:
    """Return steps, bits and entropy by byte class of each run with halting.

    share: fraction of all bytes. gap: steps minus those on letters, paired by seed.
    """
    halting = data.select("sequences/results", task=CHARACTERS).query(f"halting != '{NONE}'")
    rows = data["sequences/bytes"]
    rows = rows[rows["run"].isin(halting["run"])]
    letters = rows[rows["kind"] == LETTER].set_index(["run", "seed"])["steps"]
    keys = pd.MultiIndex.from_frame(rows[["run", "seed"]])
    rows = rows.assign(
        bits=rows["loss"] / NATS,
        entropy_bits=rows["entropy"] / NATS,
        gap=(rows["steps"] - letters.reindex(keys).to_numpy()).round(12),
    )
    columns = ["steps", "ponder", "bits", "entropy_bits", "gap"]
    frame = mean_sd(rows, ["run", "kind"], columns, total=["bytes"])
    total = frame.groupby("run")["bytes"].transform("sum")
    return frame.assign(name=frame["run"].map(fmt.settings), share=frame["bytes"] / total)


def characters_parts(data: Artifacts) -> Iterator[Table | Chart]:
    """Yield tables, learning curves, and the passage as each run with halting reads it."""
    columns: dict[str, fmt.Cell] = {
        "run": fmt.text("name"),
        "seeds": fmt.count("bits_n"),
        "bits per character": fmt.number("bits"),
        "byte error, %": fmt.percent("wrong"),
        "mean steps per byte": fmt.number("steps"),
        "mean N + R": fmt.number("ponder"),
        "parameters": fmt.count("parameters"),
    }
    yield Table("characters", readers(data), columns, f"Characters. {ON_CHARACTERS}")
    history = data.select("sequences/history", task=CHARACTERS)
    history = history.assign(bits=history["dev_loss"] / NATS)
    panel = ("curves", history, "epoch", "bits", "bits per character")
    yield from marks.curves("characters_{}", "Characters", [panel])
    for run, rows in data.select("sequences/reading", task=CHARACTERS).groupby("run", sort=False):
        yield _passage(str(run), rows)
    classes = byte_classes(data)
    if not classes.empty:
        class_columns: dict[str, fmt.Cell] = {
            "run": fmt.text("name"),
            "byte class": fmt.text("kind"),
            "fraction, %": fmt.percent("share"),
            "mean steps": fmt.number("steps"),
            "minus letters": fmt.number("gap", sign=True),
            "mean N + R": fmt.number("ponder"),
            "bits per next byte": fmt.number("bits"),
            "entropy, bits": fmt.number("entropy_bits"),
        }
        caption = "Steps by byte class."
        yield Table("characters_by_class", classes, class_columns, caption, text_columns=2)


def _passage(run: str, rows: pd.DataFrame) -> Chart:
    """Draw a passage with bars: steps on each byte upward, bits of the next byte downward."""
    index = rows["position"] - 1
    x, line = index % LINE, -(index // LINE)
    bits = rows["loss"] / NATS
    frame = pd.DataFrame(
        {
            **{"x": x, "left": x - HALF, "right": x + HALF, "y": line},
            **{"foot": line + BASE, "up": line + BASE + UP * rows["steps"] / rows["steps"].max()},
            **{"drop": line - BASE, "down": line - BASE - DOWN * bits / bits.max()},
            **{"sign": rows["byte"].map(_sign), "steps": rows["steps"], "bits": bits},
            "N + R": rows["ponder"],
        }
    )
    base = marks.data(frame).encode(
        x=alt.X("left:Q", axis=None, scale=alt.Scale(domain=[-0.6, LINE - 0.4], nice=False)),
        tooltip=["sign:N", "steps:Q", "N + R:Q", "bits:Q"],
    )
    lines = int(1 - line.min())
    scale = alt.Scale(domain=[1 - lines - BASE - DOWN, BASE + UP], nice=False)
    y = {name: alt.Y(f"{name}:Q", axis=None, scale=scale) for name in ("foot", "drop", "y")}
    layers = [
        base.mark_rect(color=BLUE).encode(x2="right:Q", y=y["foot"], y2="up:Q"),
        base.mark_rect(color=ORANGE, opacity=0.75).encode(x2="right:Q", y=y["drop"], y2="down:Q"),
        base.mark_text(color=INK, baseline="middle").encode(x="x:Q", y=y["y"], text="sign:N"),
    ]
    return marks.chart(
        f"characters_passage_{''.join(c if c.isalnum() else '_' for c in run)}",
        f"Steps along a passage: {fmt.settings(run)}",
        layers,
        caption="Up: steps on a byte. Down: bits of the next byte.",
        height=HEIGHT * lines,
    )


def _sign(byte: int) -> str:
    return SIGNS.get(byte) or (chr(byte) if 32 < byte < 127 else OTHER)


STUDY = StudyReport(COLUMNS, section, run=("task", "run"))
