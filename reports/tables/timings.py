"""How fast the machine was: apart from the report, because no two runs agree on it."""

from statistics import median

import pandas as pd

from reports.blocks import Block, Heading, Text
from reports.markdown import Table
from reports.spread import KINDS, title
from reports.stored.artefacts import Artefacts
from reports.studies.nse.published import KINDS as QUESTIONS
from reports.tables.provenance import provenance_note, provenance_table


def timings(artefacts: Artefacts) -> list[Block]:
    """Speed and total training time of each model in each stage that trains."""
    rows = [
        [stage, title(str(model)), *_figures(epochs)]
        for stage, table in (
            ("sweep", artefacts.sweep_timings),
            ("retrain", artefacts.retrain_timings),
        )
        for model, epochs in table.groupby("model", sort=False)
    ]
    header = ["stage", "model", "trials", "epochs", "median examples/s", "total trial-seconds"]
    return [
        Heading("Timings", 1),
        Text(
            "Measured by the machine that ran the trials, for each trial alone: trials that ran "
            "side by side count in full. Repeating the run changes these figures and no others."
        ),
        Table(header, rows, left=2),
        *_studies(artefacts),
        Heading("Code and machine"),
        Text(provenance_note()),
        provenance_table(artefacts),
    ]


def _studies(artefacts: Artefacts) -> list[Block]:
    """The seconds of the studies' variants, points and runs; empty without a study."""
    rows = [
        [stage, named(str(of)), str(place), *_totals(runs)]
        for stage, table, by, named in (
            ("fidelity", artefacts.fidelity_timings, ["model", "variant"], title),
            ("halting", artefacts.halting_timings, ["kind", "point"], KINDS.__getitem__),
            ("graves", artefacts.graves_timings, ["task", "run"], title),
            (
                "nse",
                artefacts.nse.timings,
                ["questions", "run"],
                lambda kind: QUESTIONS[kind].title,
            ),
        )
        for (of, place), runs in table.groupby(by, sort=False)
    ]
    if not rows:
        return []
    header = ["stage", "model, kind, task or questions", "variant, point or run"]
    header += ["runs", "epochs", "total run-seconds"]
    said = "A run that several variants share counts in each of them."
    return [Heading("Studies"), Text(said), Table(header, rows, left=3)]


def _totals(runs: pd.DataFrame) -> list[str]:
    epochs, seconds = sum(map(int, runs["epochs"])), sum(map(float, runs["seconds"]))
    return [str(len(runs)), str(epochs), f"{seconds:,.1f}"]


def _figures(epochs: pd.DataFrame) -> list[str]:
    speeds = [float(speed) for speed in epochs["examples_per_second"]]
    trials = epochs.groupby(["key", "seed"]).ngroups
    total = sum(float(seconds) for seconds in epochs["seconds"])
    return [str(trials), str(len(epochs)), f"{median(speeds):,.0f}", f"{total:,.1f}"]
