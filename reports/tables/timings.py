"""How fast, on which machine and from which code: apart from the report, as no two runs agree."""

from statistics import median
from typing import Any

import pandas as pd

from reports.blocks import Block, Heading, Table, Text
from reports.spread import KINDS, title
from reports.stored.artefacts import Artefacts
from reports.studies.nse.published import KINDS as QUESTIONS


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
        [
            *(stage, named(str(of)), str(place), str(len(runs))),
            *(str(runs["epochs"].sum()), f"{sum(runs['seconds']):,.1f}"),
        ]
        for stage, table, by, named in (
            ("fidelity", artefacts.fidelity_timings, ["model", "variant"], title),
            ("sizes", artefacts.sizes_timings, ["model", "pairs"], title),
            ("halting", artefacts.halting_timings, ["kind", "point"], KINDS.__getitem__),
            ("graves", artefacts.graves_timings, ["task", "run"], title),
            ("multihop", artefacts.multihop_timings, ["model", "run"], title),
            ("nse", artefacts.nse.timings, ["questions", "run"], lambda of: QUESTIONS[of].title),
        )
        for (of, place), runs in table.groupby(by, sort=False)
    ]
    if not rows:
        return []
    header = ["stage", "model, kind, task or questions", "variant, pairs, point or run"]
    header += ["runs", "epochs", "total run-seconds"]
    said = "A run that several variants share counts in each of them."
    return [Heading("Studies"), Text(said), Table(header, rows, left=3)]


def _figures(epochs: pd.DataFrame) -> list[str]:
    trials = epochs.groupby(["key", "seed"]).ngroups
    speed, total = median(epochs["examples_per_second"]), sum(epochs["seconds"])
    return [str(trials), str(len(epochs)), f"{speed:,.0f}", f"{total:,.1f}"]


def provenance_table(artefacts: Artefacts) -> Table:
    """One column per stage that trains, as its environment.json tells of its last run."""
    stages = {"sweep": artefacts.sweep_environment, "retrain": artefacts.retrain_environment}
    columns = [_told(environment) for environment in stages.values()]
    rows = [[name, *(column[name] for column in columns)] for name in columns[0]]
    return Table(["", *stages], rows, left=3)


def provenance_note() -> str:
    """What the table's figures are of."""
    return (
        "The machine is the one that scheduled the trials last. Wall time adds up all runs of the "
        "stage on these very trials, but for runs that were killed outright; trials that runs on "
        "other grids had finished are counted as reused and took none of it."
    )


def _told(environment: dict[str, Any]) -> dict[str, str]:
    code, machine = environment["provenance"], environment["machine"]
    memory = machine["memory_gib"]
    return {
        "commit": f"`{code['git_commit']}`",
        "data": f"`{environment['data_digest']}`",
        "Python": code["python_version"],
        "torch": code["torch_version"],
        "Ray": code["ray_version"],
        "processor": f"{machine['cpu']}, {machine['cores']} cores",
        "memory": "unknown" if memory is None else f"{memory} GiB",
        "GPU": machine["gpu"] or "none",
        "trials": f"{environment['trials']:,}",
        "of them reused": f"{environment['reused']:,}",
        "wall time": duration(environment["wall_seconds"]),
    }


def duration(seconds: float) -> str:
    """`8.4 s`, `12 min 5 s`, `3 h 20 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"
