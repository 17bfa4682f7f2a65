"""How fast the machine was: apart from the report, because no two runs agree on it."""

from statistics import median

import pandas as pd

from reports.markdown import markdown_table
from reports.nse_published import KINDS as QUESTIONS
from reports.provenance import provenance_note, provenance_table
from reports.spread import KINDS, title
from reports.stored.artefacts import Artefacts


def timings(artefacts: Artefacts) -> str:
    """Speed and total training time of each model in each stage that trains, as markdown."""
    rows = [
        [stage, title(str(model)), *_figures(epochs)]
        for stage, table in (
            ("sweep", artefacts.sweep_timings),
            ("retrain", artefacts.retrain_timings),
        )
        for model, epochs in table.groupby("model", sort=False)
    ]
    header = ["stage", "model", "trials", "epochs", "median examples/s", "total trial-seconds"]
    return (
        "# Timings\n\n"
        "Measured by the machine that ran the trials, for each trial alone: trials that ran side "
        "by side count in full. Repeating the run changes these figures and no others.\n\n"
        f"{markdown_table(header, rows, left=2)}\n{_studies(artefacts)}"
        f"\n## Code and machine\n\n{provenance_note()}\n\n{provenance_table(artefacts)}\n"
    )


def _studies(artefacts: Artefacts) -> str:
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
        return ""
    header = [
        "stage",
        "model, kind, task or questions",
        "variant, point or run",
        "runs",
        "epochs",
        "total run-seconds",
    ]
    return (
        "\n## Studies\n\n"
        "A run that several variants share counts in each of them.\n\n"
        f"{markdown_table(header, rows, left=3)}\n"
    )


def _totals(runs: pd.DataFrame) -> list[str]:
    epochs, seconds = sum(map(int, runs["epochs"])), sum(map(float, runs["seconds"]))
    return [str(len(runs)), str(epochs), f"{seconds:,.1f}"]


def _figures(epochs: pd.DataFrame) -> list[str]:
    speeds = [float(speed) for speed in epochs["examples_per_second"]]
    trials = epochs.groupby(["key", "seed"]).ngroups
    total = sum(float(seconds) for seconds in epochs["seconds"])
    return [str(trials), str(len(epochs)), f"{median(speeds):,.0f}", f"{total:,.1f}"]
