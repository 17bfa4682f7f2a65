"""Small trials for the tracker, and queries of the store."""

from pathlib import Path

# isort: split
from tune.tracking.tracker import Tracker  # first: it sets MLflow's environment
from tune.tracking.tracking_uri import tracking_uri

# isort: split
from mlflow import MlflowClient
from mlflow.entities import Run

from actmodels.records import EpochRecord, TrialRecord
from tests.samples import sample_trial
from tune.tracking.tracker import TrialState, final_state
from tune.trials.grid import Trial

WRITES = ("create_run", "log_batch", "set_terminated", "update_run", "delete_tag", "delete_run")
WRITES += ("log_inputs",)
INPUTS = {("captions-train", "d", "train"), ("captions-dev", "d", "dev")}  # name, digest, context
CONFIG = sample_trial("decomposable_attention")
PARAMS = CONFIG.flat()


class Killed(BaseException):
    """Simulates kill -9: no handler catches it."""


def epoch(number: int) -> EpochRecord:
    metrics = (1 / number, 0.5, None, None, None, 0.9, 0.6, 3.5, 0.5, 4.1, 0.001)
    return EpochRecord(number, *metrics, seconds=2.0, examples_per_second=99)


def record(key: str, epochs: int = 3) -> TrialRecord:
    history = tuple(epoch(number) for number in range(1, epochs + 1))
    return TrialRecord(key, CONFIG.as_dict(), 100, history, {"data": "d"})


def runs(state: Path) -> list[Run]:
    client = MlflowClient(tracking_uri(state))
    experiment = client.get_experiment_by_name("act-nli")
    assert experiment is not None
    return list(client.search_runs([experiment.experiment_id]))


def children(state: Path) -> dict[str, Run]:
    nested = [run for run in runs(state) if "mlflow.parentRunId" in run.data.tags]
    by_key = {run.data.tags["trial_key"]: run for run in nested}
    assert len(by_key) == len(nested), "a trial has two nested runs"
    return by_key


def steps(state: Path, run: Run, metric: str = "dev_loss") -> list[int]:
    client = MlflowClient(tracking_uri(state))
    return [point.step for point in client.get_metric_history(run.info.run_id, metric)]


def inputs(run: Run) -> set[tuple[str, str, str]]:
    data = [(item.dataset, item.tags[0].value) for item in run.inputs.dataset_inputs]
    return {(dataset.name, dataset.digest, context) for dataset, context in data}


def statuses(state: Path) -> dict[str, str]:
    return {key: run.info.status for key, run in children(state).items()}


def parents(state: Path) -> list[Run]:
    return [run for run in runs(state) if "mlflow.parentRunId" not in run.data.tags]


def started(state: Path, group: str = "0123456789") -> Tracker:
    return Tracker("sweep", group, {"git_commit": "c0ffee"}, state, ("captions", state))


def trial(key: str) -> Trial:
    return Trial(key, CONFIG, {"data": "d"})


def train(tracker: Tracker, key: str, first: int = 1, last: int = 3) -> None:
    """Updates in the order of a worker's reports: the start, then all epochs so far after each."""
    tracker.update(trial(key), TrialState())
    for number in range(first, last + 1):
        tracker.update(trial(key), TrialState(history=record(key, number).history))


def end(tracker: Tracker, key: str, epochs: int = 3) -> None:
    tracker.update(trial(key), final_state(record(key, epochs)))
