"""The sweep's peer: joblib trains the same trials and logs them to MLflow; it cannot resume."""

import time
from collections.abc import Sequence
from pathlib import Path

import joblib
import mlflow
import torch
from joblib.externals.loky import get_reusable_executor
from mlflow.entities import Metric, Param

from actmodels.data.trial_data import trial_data
from actmodels.training import Training
from actmodels.trial_config import TrialConfig


def train(config: TrialConfig, folder: Path, tracking_uri: str, experiment: str) -> float:
    """Train and log one trial; return the time of its end."""
    torch.set_num_threads(1)
    client = mlflow.MlflowClient(tracking_uri)
    run = client.create_run(experiment).info.run_id
    settings = vars(config.training) | vars(config.network)
    client.log_batch(run, params=[Param(name, str(value)) for name, value in settings.items()])
    for record in Training(config, trial_data(config, folder)).epochs():
        values = {name: v for name, v in vars(record).items() if isinstance(v, float)}
        now = int(time.time() * 1000)
        metrics = [Metric(name, value, now, record.epoch) for name, value in values.items()]
        client.log_batch(run, metrics)
    client.set_terminated(run)
    return time.time()


def joblib_seconds(
    configs: Sequence[TrialConfig], folder: Path, workers: int
) -> tuple[float, float]:
    """Return worker seconds per trial after the first of each worker, and the seconds in all."""
    start, tracking_uri = time.time(), f"sqlite:///{folder / 'joblib.db'}"
    client = mlflow.MlflowClient(tracking_uri)
    experiment = client.get_experiment_by_name("peer")
    number = experiment.experiment_id if experiment else client.create_experiment("peer")
    call = joblib.delayed(train)
    ends = sorted(joblib.Parallel(workers)(call(c, folder, tracking_uri, number) for c in configs))
    get_reusable_executor().shutdown()  # else the next sweep would find its workers started
    steady = (ends[-1] - ends[workers - 1]) * workers / (len(ends) - workers)
    return steady, time.time() - start
