"""The desired content of a trial's run in MLflow."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from actmodels.errors import first_line
from actmodels.records import Epoch, TrialRecord, best_epoch
from tune.tracking.exported_model import Metrics
from tune.tracking.mlflow_store import Metric, flatten_metrics


@dataclass(frozen=True)
class TrialState:
    """The desired content of a nested run; system_metrics: of the last epoch."""

    status: str = "RUNNING"
    history: Sequence[Epoch] = ()
    tags: dict[str, str] = field(default_factory=dict)
    system_metrics: Metrics = field(default_factory=dict)


def final_state(result: TrialRecord | str) -> TrialState:
    """Return the state of a trial that has ended; FAILED for an error or a diverged trial."""
    if isinstance(result, str):
        return TrialState("FAILED", tags={"failure": first_line(result)})
    tags = {name: str(value) for name, value in (result.machine or {}).items()}
    tags["epochs"] = str(len(result.history))
    if result.end:
        tags["failure" if result.diverged else "stopped"] = result.end
    return TrialState("FAILED" if result.diverged else "FINISHED", result.history, tags)


def epoch_metrics(records: Sequence[Epoch]) -> list[Metric]:
    """Return the metrics of these epochs, each at its step."""
    return [
        metric
        for record in records
        for metric in flatten_metrics(record.logged(), step=record.epoch)
    ]


def last_metrics(state: TrialState) -> list[Metric]:
    """Return what is logged once: system metrics, and of a trial that has ended its best epoch."""
    if not state.history:
        return []
    metrics = flatten_metrics(state.system_metrics, step=state.history[-1].epoch)
    if state.status == "RUNNING":
        return metrics
    best = best_epoch(state.history)  # by these MLflow sorts trials
    values = {f"best_{name}": value for name, value in best.headline().items()}
    return metrics + flatten_metrics(values | {"best_epoch": best.epoch})
