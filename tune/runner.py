"""Handing trials to Ray Tune."""

import functools
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import ray.tune

from actmodels.errors import SweepError
from tune.callback import DriverCallback, SweepStopper
from tune.cluster import connected
from tune.early_stopping import Rungs
from tune.execution import Execution
from tune.fusion import Fusion, spread
from tune.fusion_tuning import Data, place, share
from tune.grid import Trial, grid_hash
from tune.node_check import run_checked
from tune.nodes import Nodes, Placement
from tune.progress import Progress
from tune.resources import ClusterMonitor, needed, wait_for_resources
from tune.store import TrialStore
from tune.tracking import Tracker
from tune.trainable import run_fusion


def execute(
    kind: str,
    trials: list[Trial],
    execution: Execution,
    store: TrialStore,
    tracker: Tracker,
    keep_weights: bool,
    rungs: Rungs | None,
) -> dict[str, str]:
    """Run trials on Ray, store what finishes, and return why others failed, by key."""
    folder = execution.state / "ray" / f"{kind}-{grid_hash(trials)}"  # Tune's; no worker reads it
    epochs = sum(trial.config.max_epochs for trial in trials)
    checkpoints, cuda = execution.checkpoints, execution.device == "cuda"
    nodes = Nodes(checkpoints, joined=execution.joins, answer=execution.wait_for_answer, cuda=cuda)
    with (
        connected(dashboard=execution.dashboard, state=execution.state),
        closing(Progress(kind, len(trials), epochs)) as progress,
        tracker.in_background(),  # ends first: a thread that met Ray late would end the process
        nodes,
    ):
        callback = DriverCallback(
            {trial.key: trial for trial in trials},
            store=store,
            tracker=tracker,
            progress=progress,
            checkpoints=checkpoints,
            traces=execution.state / "failures",
            keep_weights=keep_weights,
            nodes=nodes,
        )
        wait = execution.wait_for_nodes if execution.joins else 0  # this machine has one node
        wait_for_resources(nodes, execution.resources, wait)
        data = share(trials, execution)
        fusions = place(kind, trials, execution, data, nodes)
        with ClusterMonitor(nodes, execution.resources, max(5.0, wait), needed()):
            fit(folder, fusions, execution, callback, data, rungs)
    if not callback.errors and any(t.key not in callback.ended for t in trials):
        raise KeyboardInterrupt  # Ray turns Ctrl-C into an early but orderly return
    shutil.rmtree(folder, ignore_errors=True)
    return callback.errors


def fit(
    folder: Path,
    fusions: list[Fusion],
    execution: Execution,
    callback: DriverCallback,
    data: Data,
    rungs: Rungs | None = None,
) -> None:
    """Have Ray run fusions, and what comes back of them again, from each trial's last saved epoch.

    It ends: trials are lost as often as they may restart, and fusions that fail become smaller.
    """
    while fusions:
        callback.begin(fusions)
        tuner(folder, fusions, execution, callback, data, rungs).fit()
        if callback.ends:
            raise SweepError(callback.ends)
        fusions = list(callback.again)
        if callback.outgrown:
            fusions = spread(callback.left(), callback.nodes.room)


def tuner(
    folder: Path,
    fusions: list[Fusion],
    execution: Execution,
    callback: DriverCallback,
    data: Data,
    rungs: Rungs | None,
) -> ray.tune.Tuner:
    """Set up one Tune experiment with one Tune trial per fusion, workers reused between them."""
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed; nothing is read from it
    work = functools.partial(
        run_fusion,
        configs={trial.key: trial.config for fusion in fusions for trial in fusion.trials},
        data=data,
        checkpoints=execution.checkpoints,
        rungs=rungs,
        system_metrics=execution.system_metrics,
        **execution.where,
    )
    trainable = functools.partial(run_checked, gate=callback.nodes.gate, work=ray.put(work))
    names = {fusion.trials[0].key: fusion.name for fusion in fusions}

    def trial_name(ray_trial: Any) -> str:
        return names[ray_trial.config["fusion"][0]]

    # Keys alone: for each fusion, Tune copies the values of all fusions.
    space = {"fusion": ray.tune.grid_search([[t.key for t in fusion.trials] for fusion in fusions])}
    return ray.tune.Tuner(
        ray.tune.with_resources(trainable, Placement(execution.resources, callback.nodes)),
        param_space=space,
        tune_config=ray.tune.TuneConfig(
            reuse_actors=True,
            max_concurrent_trials=execution.workers,
            trial_name_creator=trial_name,
            trial_dirname_creator=trial_name,
        ),
        run_config=ray.tune.RunConfig(
            name=folder.name,
            storage_path=str(folder.parent),
            failure_config=ray.tune.FailureConfig(max_failures=execution.max_failures),
            callbacks=[callback],
            stop=SweepStopper(),
            verbose=0,
        ),
    )
