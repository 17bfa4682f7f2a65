"""From which code, on which machine and how long the models were trained."""

from typing import Any

from reports.markdown import Table
from reports.stored.artefacts import Artefacts


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
