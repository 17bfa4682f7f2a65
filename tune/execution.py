"""Handing trials to Ray Tune."""

import functools
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray.tune

from tune.callback import DriverCallback
from tune.cluster import connected
from tune.grid import Trial, grid_hash
from tune.progress import Progress
from tune.store import TrialStore
from tune.tracking import Tracker
from tune.trainable import train_trial


@dataclass(frozen=True)
class Execution:
    """Where and with what trials are run (section `cluster` of params.yaml).

    Paths are absolute. `storage` holds trials in progress, the same path on all nodes; `state`
    is the driver's own. Fractions of a GPU let trials share one.
    """

    data_folder: Path
    state: Path
    storage: Path
    cpus_per_trial: float
    gpus_per_trial: float
    max_failures: int
    dashboard: bool

    @property
    def device(self) -> str:
        """Where models live: "cuda" if trials have a share of a GPU."""
        return "cuda" if self.gpus_per_trial > 0 else "cpu"

    @property
    def threads(self) -> int:
        """Threads of one trial."""
        return max(1, int(self.cpus_per_trial))

    @property
    def checkpoints(self) -> Path:
        """Folder of the trials in progress."""
        return self.storage / "checkpoints"


def execute(
    kind: str,
    trials: list[Trial],
    execution: Execution,
    store: TrialStore,
    tracker: Tracker,
    *,
    keep_weights: bool,
) -> dict[str, str]:
    """Run trials on Ray and store what finishes.

    Returns:
        why trials failed, by key; whether all finished is for the caller to see in the store.

    Raises:
        KeyboardInterrupt: the run was interrupted.
    """
    progress = Progress(kind, len(trials), sum(trial.config.max_epochs for trial in trials))
    callback = DriverCallback(
        {trial.key: trial for trial in trials},
        store=store,
        tracker=tracker,
        progress=progress,
        checkpoints=execution.checkpoints,
        keep_weights=keep_weights,
    )
    folder = execution.storage / f"{kind}-{grid_hash(trials)}"
    try:
        with connected(dashboard=execution.dashboard, state=execution.state):
            fit(folder, trials, execution, callback)
    finally:
        progress.close()
    if not callback.errors and any(t.key not in callback.ended for t in trials):
        raise KeyboardInterrupt  # Ray turns Ctrl-C into an early but orderly return
    if not callback.errors:
        shutil.rmtree(folder, ignore_errors=True)  # else its error files are worth a look
    return callback.errors


def fit(folder: Path, trials: list[Trial], execution: Execution, callback: DriverCallback) -> None:
    """Have Ray run the trials, and those again that it lost, from their last saved epoch.

    A trial lost in every round gets the same number of rounds as of restarts.
    """
    for _ in range(1 + execution.max_failures):
        callback.lost.clear()
        tuner(folder, trials, execution, callback).fit()
        trials = [trial for trial in trials if trial.key in callback.lost]
        if not trials:
            return
    for trial in trials:
        callback.gave_up(trial, "its workers died again and again; see the log above")


def tuner(
    folder: Path, trials: list[Trial], execution: Execution, callback: DriverCallback
) -> ray.tune.Tuner:
    """Set up one Tune experiment with one Tune trial per trial, workers reused between them."""
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed; nothing is read from it
    trainable = functools.partial(
        train_trial,
        data_folder=execution.data_folder,
        checkpoints=execution.checkpoints,
        device=execution.device,
        threads=execution.threads,
    )
    resources = {"cpu": execution.cpus_per_trial, "gpu": execution.gpus_per_trial}
    names = {trial.key: trial.name for trial in trials}

    def trial_name(ray_trial: Any) -> str:
        return names[ray_trial.config["point"]["key"]]

    points = [{"key": trial.key, "trial": trial.config.as_dict()} for trial in trials]
    space = {"point": ray.tune.grid_search(points)}
    return ray.tune.Tuner(
        ray.tune.with_resources(trainable, resources),
        param_space=space,
        tune_config=ray.tune.TuneConfig(
            reuse_actors=True,
            trial_name_creator=trial_name,
            trial_dirname_creator=trial_name,
        ),
        run_config=ray.tune.RunConfig(
            name=folder.name,
            storage_path=str(folder.parent),
            failure_config=ray.tune.FailureConfig(max_failures=execution.max_failures),
            callbacks=[callback],
            verbose=0,
        ),
    )
