"""Handing trials to Ray Tune."""

import functools
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import ray.tune

from actmodels.errors import SweepError
from tune.callback import DriverCallback, Ends
from tune.cluster import connected
from tune.early_stopping import Rungs
from tune.execution import Execution
from tune.gate import through
from tune.grid import Trial, grid_hash
from tune.nodes import Nodes, Placement
from tune.packing import Pack, spread
from tune.placement import Data, place, share
from tune.progress import Progress
from tune.room import Watch, await_room, needed
from tune.store import TrialStore
from tune.tracking import Tracker
from tune.trainable import run_pack


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
        await_room(nodes, execution.resources, wait)
        data = share(trials, execution)
        packs = place(kind, trials, execution, data, nodes)
        with Watch(nodes, execution.resources, max(5.0, wait), needed()):
            fit(folder, packs, execution, callback, data, rungs)
    if not callback.errors and any(t.key not in callback.ended for t in trials):
        raise KeyboardInterrupt  # Ray turns Ctrl-C into an early but orderly return
    shutil.rmtree(folder, ignore_errors=True)
    return callback.errors


def fit(
    folder: Path,
    packs: list[Pack],
    execution: Execution,
    callback: DriverCallback,
    data: Data,
    rungs: Rungs | None = None,
) -> None:
    """Have Ray run packs, and what comes back of them again, from each trial's last saved epoch.

    It ends: trials are lost as often as they may restart, and packs that fail become smaller.
    """
    while packs:
        callback.begin(packs)
        tuner(folder, packs, execution, callback, data, rungs).fit()
        if callback.ends:
            raise SweepError(callback.ends)
        packs = list(callback.again)
        if callback.outgrown:
            packs = spread(callback.left(), callback.nodes.room)


def tuner(
    folder: Path,
    packs: list[Pack],
    execution: Execution,
    callback: DriverCallback,
    data: Data,
    rungs: Rungs | None,
) -> ray.tune.Tuner:
    """Set up one Tune experiment with one Tune trial per pack, workers reused between them."""
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed; nothing is read from it
    work = functools.partial(
        run_pack,
        configs={trial.key: trial.config for pack in packs for trial in pack.trials},
        data=data,
        checkpoints=execution.checkpoints,
        rungs=rungs,
        system_metrics=execution.system_metrics,
        **execution.where,
    )
    trainable = functools.partial(through, gate=callback.nodes.gate, work=ray.put(work))
    names = {pack.trials[0].key: pack.name for pack in packs}

    def trial_name(ray_trial: Any) -> str:
        return names[ray_trial.config["pack"][0]]

    # Keys alone: for each pack, Tune copies the values of all packs.
    space = {"pack": ray.tune.grid_search([[t.key for t in pack.trials] for pack in packs])}
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
            stop=Ends(),
            verbose=0,
        ),
    )
