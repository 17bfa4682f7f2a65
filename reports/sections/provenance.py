"""Where the figures come from: machine, code, chosen trials, and the time they took."""

import pandas as pd

from reports.blocks import Section, Table
from reports.format import Cell, count, duration, text
from reports.load import Artifacts
from reports.names import MECHANISMS, model_name, title
from reports.published.tasks import QUESTIONS

STUDIES = {
    "fidelity": (["model", "variant"], title),
    "sizes": (["model", "pairs"], title),
    "halting": (["kind", "point"], MECHANISMS.__getitem__),
    "graves": (["task", "run"], title),
    "multihop": (["model", "run"], title),
    "nse": (["questions", "run"], lambda questions: QUESTIONS[questions].title),
}


def timings(data: Artifacts) -> pd.DataFrame:
    """Return the training time of each model in each stage, and of each run of the studies."""
    rows = []
    for stage in ("sweep", "retrain"):
        for model, epochs in data[f"{stage}/timings"].groupby("model", sort=False):
            rows.append(
                {"stage": stage, "model": title(model), "run": None, "epochs": len(epochs)}
                | {"trainings": epochs.groupby(["key", "seed"]).ngroups}
                | {"examples_per_second": epochs["examples_per_second"].median()}
                | {"seconds": epochs["seconds"].sum()}
            )
    for stage, (by, name) in STUDIES.items():
        for (of, run), found in data[f"{stage}/timings"].groupby(by, sort=False):
            rows.append(
                {"stage": stage, "model": name(of), "run": run, "epochs": found["epochs"].sum()}
                | {"trainings": len(found), "seconds": found["seconds"].sum()}
            )
    return pd.DataFrame(rows)


def environments(data: Artifacts) -> pd.DataFrame:
    """Return code, machine and duration of the two stages that train, a row per property."""
    columns = {stage: _properties(data, stage) for stage in ("sweep", "retrain")}
    return pd.DataFrame(columns).rename_axis("property").reset_index()


def _properties(data: Artifacts, stage: str) -> dict[str, str]:
    found = data.documents[f"{stage}/environment"]
    code, machine = found["provenance"], found["machine"]
    memory = machine["memory_gib"]
    return {
        "commit": code["git_commit"][:8],
        "data": found["data_digest"],
        "Python": code["python_version"],
        "torch": code["torch_version"],
        "Ray": code["ray_version"],
        "processor": f"{machine['cpu']}, {machine['cores']} cores",
        "memory": "unknown" if memory is None else f"{memory} GiB",
        "GPU": machine["gpu"] or "none",
        "trials": f"{found['trials']:,}",
        "of them reused": f"{found['reused']:,}",
        "wall time": duration(found["wall_seconds"]),
    }


def chosen(data: Artifacts) -> pd.DataFrame:
    """Return which trial was chosen of each model, and by which rule of equals."""
    rows = [
        {"model": model, "trial": best["key"], "configurations": best["considered"]}
        | {"tied": best["tied"], "rule": best["tie_rule"] if best["tied"] > 1 else None}
        for model, best in data.documents["select_best/best"].items()
    ]
    return pd.DataFrame(rows, columns=["model", "trial", "configurations", "tied", "rule"])


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
        [
            Table("chosen", chosen(data), picked, left=2),
        ],
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
