"""What stops a network: accuracy and steps by length of the strings, mechanism and exit."""

import pandas as pd

from reports import format as fmt
from reports import marks
from reports.blocks import Chart, Section, StudyReport, Table
from reports.load import Artifacts
from reports.statistics import mean_sd, wide
from studies.stopping.tables import COLUMNS

KEYS = ["task", "run", "exit"]


def section(data: Artifacts, _claims: pd.DataFrame) -> Section:
    """Return two tables, and a chart of each task."""
    rows = data["stopping/lengths"]
    values = ["strings", "bits", "mean_steps", "correlation"]
    frame = mean_sd(rows, [*KEYS, "length"], values)
    lengths, longest = sorted(rows["length"].unique()), rows["length"].max()
    table = wide(frame, KEYS, "length", sort=False)
    names: dict[str, fmt.Cell] = {key: fmt.text(key) for key in KEYS}
    seeds = {"seeds": fmt.count(f"strings_{longest}_n")}
    right = {f"{n} bits, %": fmt.percent(f"strings_{n}") for n in lengths}
    steps = {f"{n} bits": fmt.number(f"mean_steps_{n}", 1) for n in lengths}
    r = {f"r at {longest}": fmt.optional(f"correlation_{longest}_mean", lambda r: f"{r:.2f}")}
    trained = "Strings whose bits are all right, by length."
    per_bit = "Mean steps of a bit; r: Pearson's, of steps and the steps that a bit needs."
    return Section(
        "What stops a network",
        [
            *(_chart(task, group) for task, group in frame.groupby("task", sort=False)),
            Table("stopping", table, names | seeds | right, trained, text_columns=3),
            Table("stopping_steps", table, names | steps | r, per_bit, text_columns=3),
        ],
        "Each network is trained on short strings and tested on longer ones: as it halts, with an "
        "exit by confidence, and after as many steps as bits.",
    )


def _chart(task: str, frame: pd.DataFrame) -> Chart:
    halted = frame[frame["exit"] == "as halted"].assign(series=frame["run"], x=frame["length"])
    panel = marks.with_band(halted, "strings", 100)
    layers = marks.lines(panel, "bits", "strings that are right (%)")
    title = f"Strings that are right by length: {task.replace('_', ' ')}"
    return marks.chart(f"stopping_{task}", title, layers)


STUDY = StudyReport(COLUMNS, section, run=("task", "run"))
