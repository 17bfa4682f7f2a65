"""Where the figures come from: machine, code, chosen trials, and the time they took."""

from typing import Any

import pandas as pd

from reports.blocks import Section, Table
from reports.format import MECHANISMS, Cell, count, duration, model_name, text, title
from reports.load import Artifacts
from reports.published.results import QUESTIONS

STUDIES = {
    "fidelity": (["model", "variant"], title),
    "sizes": (["model", "pairs"], title),
    "halting": (["kind", "point"], MECHANISMS.__getitem__),
    "sequences": (["task", "run"], title),
    "multihop": (["model", "run"], title),
    "cloze": (["questions", "run"], QUESTIONS.__getitem__),
}


def timings(data: Artifacts) -> pd.DataFrame:
    """Return the training time of each model in each stage, and of each run of the studies."""
    rows: list[list[Any]] = []
    for stage in ("sweep", "retrain"):
        for model, epochs in data[f"{stage}/timings"].groupby("model", sort=False):
            trainings = epochs.groupby(["key", "seed"]).ngroups
            speed, seconds = epochs["examples_per_second"].median(), epochs["seconds"].sum()
            rows.append([stage, title(model), None, len(epochs), trainings, speed, seconds])
    for stage, (by, name) in STUDIES.items():
        for (of, run), found in data[f"{stage}/timings"].groupby(by, sort=False):
            epochs, seconds = found["epochs"].sum(), found["seconds"].sum()
            rows.append([stage, name(of), run, epochs, len(found), None, seconds])
    columns = ["stage", "model", "run", "epochs", "trainings", "examples_per_second", "seconds"]
    return pd.DataFrame(rows, columns=columns)


def environments(data: Artifacts) -> pd.DataFrame:
    """Return code, machine and duration of the two stages that train, a row per property."""
    columns = {}
    for stage in ("sweep", "retrain"):
        found = data.documents[f"{stage}/environment"]
        code, machine = found["provenance"], found["machine"]
        columns[stage] = {
            "commit": code["git_commit"][:8],
            "data": found["data_digest"],
            "Python": code["python_version"],
            "torch": code["torch_version"],
            "Ray": code["ray_version"],
            "processor": f"{machine['cpu']}, {machine['cores']} cores",
            "memory": f"{machine['memory_gib']} GiB",
            "GPU": machine["gpu"] or "none",
            "trials": f"{found['trials']:,}",
            "of them reused": f"{found['reused']:,}",
            "wall time": duration(found["wall_seconds"]),
        }
    return pd.DataFrame(columns).rename_axis("property").reset_index()


def chosen(data: Artifacts) -> pd.DataFrame:
    """Return which trial was chosen of each model, and by which rule of equals."""
    rows = [
        [model, best["key"], best["considered"], best["tied"], best["tie_rule"]]
        for model, best in data.documents["select_best/best"].items()
    ]
    frame = pd.DataFrame(rows, columns=["model", "trial", "configurations", "tied", "rule"])
    frame["rule"] = frame["rule"].where(frame["tied"] > 1)
    return frame


def provenance_section(data: Artifacts) -> Section:
    """Return the section."""
    picked: dict[str, Cell] = {
        "model": model_name,
        "trial": text("trial"),
        "configurations": count("configurations"),
        "tied on dev": count("tied"),
        "rule among equals": text("rule"),
    }
    return Section(
        "Provenance",
        [Table("chosen", chosen(data), picked, left=2)],
        f"Grid {data.documents['sweep/summary']['grid_hash']}, "
        f"tensors {data.documents['tensors/manifest']['digest']}.",
    )


def timings_section(data: Artifacts) -> Section:
    """Return the section, which no two runs agree on."""
    columns: dict[str, Cell] = {
        "stage": text("stage"),
        "model, mechanism or task": text("model"),
        "run": text("run"),
        "trainings": count("trainings"),
        "epochs": count("epochs"),
        "median examples/s": count("examples_per_second"),
        "training seconds": lambda row: f"{row['seconds']:,.1f}",
    }
    machine: dict[str, Cell] = {name: text(name) for name in ("property", "sweep", "retrain")}
    said = "Wall time adds up all runs of a stage on these trials, except for killed ones."
    return Section(
        "Timings and machine",
        [
            Table("timings", timings(data), columns, left=3),
            Table("environments", environments(data), machine, said, left=3),
        ],
        "Measured where each trial ran, for that trial alone. A run that several variants share "
        "counts in each of them.",
        of_run=True,
    )
