"""Provenance of the results: machine, code, selected trials, and training times."""

from typing import Any

import pandas as pd

from reports import format as fmt
from reports.blocks import Section, StudyReports, Table
from reports.load import Artifacts


def timings(data: Artifacts, studies: StudyReports) -> pd.DataFrame:
    """Return training times by stage and model, and by run of each study."""
    rows: list[list[Any]] = []
    for stage in ("sweep", "retrain"):
        for model, epochs in data[f"{stage}/timings"].groupby("model", sort=False):
            trainings = epochs.groupby(["key", "seed"]).ngroups
            speed, seconds = epochs["examples_per_second"].median(), epochs["seconds"].sum()
            rows.append([stage, fmt.title(model), None, len(epochs), trainings, speed, seconds])
    for name, study in studies.items():
        for (group, run), times in data[f"{name}/timings"].groupby([*study.run], sort=False):
            epochs, seconds = times["epochs"].sum(), times["seconds"].sum()
            rows.append([name, study.group_title(group), run, epochs, len(times), None, seconds])
    columns = ["stage", "model", "run", "epochs", "trainings", "examples_per_second", "seconds"]
    return pd.DataFrame(rows, columns=columns)


def environments(data: Artifacts) -> pd.DataFrame:
    """Return code, machine and wall time of sweep and retraining, one row per property."""
    columns = {}
    for stage in ("sweep", "retrain"):
        environment = data.documents[f"{stage}/environment"]
        code, machine = environment["provenance"], environment["machine"]
        columns[stage] = {
            "commit": code["git_commit"][:8],
            "data": environment["data_digest"],
            "Python": code["python_version"],
            "torch": code["torch_version"],
            "Ray": code["ray_version"],
            "CPU": f"{machine['cpu']}, {machine['cores']} cores",
            "memory": f"{machine['memory_gib']} GiB",
            "GPU": machine["gpu"] or "none",
            "trials": f"{environment['trials']:,}",
            "reused trials": f"{environment['reused']:,}",
            "wall time": fmt.duration(environment["wall_seconds"]),
        }
    return pd.DataFrame(columns).rename_axis("property").reset_index()


def chosen(data: Artifacts) -> pd.DataFrame:
    """Return the selected trial of each model, and the rule that broke a tie."""
    rows = [
        [model, best["key"], best["considered"], best["tied"], best["tie_rule"]]
        for model, best in data.documents["select_best/best"].items()
    ]
    frame = pd.DataFrame(rows, columns=["model", "trial", "configurations", "tied", "rule"])
    frame["rule"] = frame["rule"].where(frame["tied"] > 1)
    return frame


def provenance_section(data: Artifacts) -> Section:
    """Return the data, the selected trials, and the hashes of grid and tensors."""
    notes = [*data.documents["corpus/summary"]["notes"], data.documents["vectors/summary"]["note"]]
    columns: dict[str, fmt.Cell] = {
        "model": fmt.model_name,
        "trial": fmt.text("trial"),
        "configurations": fmt.count("configurations"),
        "tied on dev": fmt.count("tied"),
        "tie-breaking rule": fmt.text("rule"),
    }
    return Section(
        "Provenance",
        [
            Table("data", pd.DataFrame({"data": notes}), {"data": fmt.text("data")}),
            Table("chosen", chosen(data), columns, text_columns=2),
        ],
        f"Grid {data.documents['sweep/summary']['grid_hash']}, "
        f"tensors {data.documents['tensors/manifest']['digest']}.",
    )


def timings_section(data: Artifacts, studies: StudyReports) -> Section:
    """Return times and machines, which differ between runs."""
    columns: dict[str, fmt.Cell] = {
        "stage": fmt.text("stage"),
        "model, mechanism or task": fmt.text("model"),
        "run": fmt.text("run"),
        "trainings": fmt.count("trainings"),
        "epochs": fmt.count("epochs"),
        "median examples/s": fmt.count("examples_per_second"),
        "training seconds": lambda row: f"{row['seconds']:,.1f}",
    }
    properties: dict[str, fmt.Cell] = {
        name: fmt.text(name) for name in ("property", "sweep", "retrain")
    }
    caption = "Wall time is the sum over all runs of a stage on these trials, without killed ones."
    return Section(
        "Timings and machine",
        [
            Table("timings", timings(data, studies), columns, text_columns=3),
            Table("environments", environments(data), properties, caption, text_columns=3),
        ],
        "Times of each trial on the machine where it ran. A run that several variants share counts "
        "once per variant.",
        volatile=True,
    )
