"""Run fusions of trials with Ray Tune."""

import functools
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray.tune
from ray.tune.search import Searcher

from actmodels.errors import SweepError
from tune.cluster.callback import DriverCallback, DriverOnly
from tune.cluster.connection import connected
from tune.cluster.fusion_tuning import plan_fusions, share_data
from tune.cluster.node_check import run_checked
from tune.cluster.nodes import Nodes, Placement
from tune.cluster.resources import ClusterMonitor, required_addresses, wait_for_resources
from tune.cluster.trainable import run_fusion
from tune.progress import Progress
from tune.running_sweep import RunningSweep
from tune.trials.fusion import (
    Fusion,
    fusion_point,
    point_name,
    search_space,
    split_largest,
    varied_settings,
)
from tune.trials.grid import Trial, by_configuration
from tune.trials.provenance import code_packages


def train(sweep: RunningSweep, trials: list[Trial]) -> None:
    """Train the unfinished trials of a sweep on Ray; those that it still proposes follow."""
    execution, proposed = sweep.execution, sweep.proposed
    # The folder of Ray Tune, on the driver alone.
    folder = execution.state / "ray" / f"{sweep.stage}-{sweep.group}"
    planned = proposed.templates or trials
    count = len(trials) + proposed.remaining
    code = dict.fromkeys(path for trial in planned for path in code_packages(trial.config))
    epochs = sum(trial.config.max_epochs for trial in planned) * count // len(planned)
    name = execution.about.name or sweep.stage
    with (
        connected(dashboard=execution.dashboard, state=execution.state, code=code, name=name),
        closing(Progress(sweep.stage, count, epochs)) as progress,
        # within `connected`: a Ray call after its end kills the process
        sweep.tracker.in_background(),
        Nodes(execution) as nodes,
    ):
        timeout = execution.patience if nodes.external else 0  # a local Ray cannot grow
        wait_for_resources(nodes, timeout)
        data = share_data(planned, execution)
        sweep.waiting = plan_fusions(sweep.stage, trials, execution, data, nodes)
        work = functools.partial(
            run_fusion,
            planned={trial.key: trial for trial in planned},
            data=data,
            varied=varied_settings(
                [trial.config for trial in planned],
                [name for t in planned if t.search for name in t.search.axes],
            ),
            checkpoints=execution.checkpoints,
            rung_scores=sweep.rung_scores,
            stops=sweep.stops,
            stacked=execution.trials_per_fusion != 1,
            system_metrics=execution.system_metrics,
            **execution.torch_settings,
        )
        check, shared = nodes.check, ray.put(work)

        def trainable(point: dict[str, Any]) -> None:
            run_checked(point, check=check, work=shared)

        # the repr of the actor, which Ray reads once, while a worker trains many trials
        trainable.__name__ = f"worker of {sweep.stage}"
        required = required_addresses(nodes)
        callback = DriverCallback(sweep, progress, nodes)
        with ClusterMonitor(nodes, max(5.0, timeout), required, progress.running):
            run_rounds(callback, functools.partial(tuner, folder, count, trainable))
    left = proposed.by_key.keys() - sweep.ended - proposed.scores.keys()
    if not sweep.errors and not sweep.ending and (proposed.remaining or left):
        raise KeyboardInterrupt  # after Ctrl-C Ray returns early and normally
    shutil.rmtree(folder, ignore_errors=True)


PENDING = 200  # fusions that wait for resources, so that a cluster grows; Ray Tune's own number


class FusionQueue(DriverOnly, Searcher):
    """Give Ray the waiting fusions first, then the trials that the search proposes.

    A trial is proposed when it can start, so that the search has as many scores as possible.
    A fusion that failed waits again, and comes next.
    """

    def __init__(self, callback: DriverCallback) -> None:
        super().__init__()
        self.sweep, self.nodes = callback.sweep, callback.nodes
        self.running: dict[str, Fusion] = {}

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:  # type: ignore[override]
        """Return the next fusion; None: later; FINISHED: there is none."""
        waiting, proposed = self.sweep.waiting, self.sweep.proposed
        if self.sweep.is_ending():
            return None if self.running else Searcher.FINISHED
        if not waiting and len(self.running) < max(1, self.nodes.capacity):
            waiting += by_configuration(proposed.ask())
        if not waiting:
            return None if self.running else Searcher.FINISHED
        if len(self.running) >= self.nodes.capacity + PENDING:
            return None
        fusion = self.running[trial_id] = waiting.pop(0)
        return fusion_point(fusion, proposed.peers(fusion[0]))

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Keep the scores of the trials of a fusion that the driver's callback has recorded."""
        for trial in self.running.pop(trial_id, ()):
            self.sweep.proposed.is_finished(trial.key)

    def unfinished(self) -> list[Fusion]:
        """Return the fusions that run or wait, without the trials that have ended."""
        return self.sweep.unfinished_fusions([*self.running.values(), *self.sweep.waiting])

    def save_to_dir(self, checkpoint_dir: str, session_str: str = "default") -> None:
        """Save nothing: the ledger has the trials."""


def ray_trial_name(ray_trial: Any) -> str:
    """Return the name of Ray's trial of a fusion."""
    return point_name(ray_trial.config)


@dataclass(eq=False)
class SweepStopper(ray.tune.Stopper):
    """End a round of fusions on a fatal error, or when more nodes allow smaller fusions.

    capacity: at the beginning of the round. left: fusions that continue in the next one.
    """

    queue: FusionQueue
    capacity: int
    left: Sequence[Fusion] = ()

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """Return False: no fusion is stopped alone."""
        return False

    def stop_all(self) -> bool:
        """Return whether the round ends."""
        if self.queue.sweep.is_ending():  # running fusions end after their epoch
            return bool(self.queue.sweep.fatal_error)
        capacity = self.queue.nodes.capacity
        if capacity > self.capacity and not self.left:
            fusions = self.queue.unfinished()
            if len(fusions) < min(capacity, sum(map(len, fusions))):
                self.left = fusions
        return bool(self.queue.sweep.fatal_error or self.left)


def run_rounds(
    callback: DriverCallback, tuner: Callable[[DriverCallback, SweepStopper], ray.tune.Tuner]
) -> None:
    """Run the fusions; if nodes join, in a new round of smaller ones.

    It ends: the number of failures of a trial is limited, and fusions that fail are halved.
    """
    sweep, nodes = callback.sweep, callback.nodes
    while sweep.waiting and not sweep.ending:
        stopper = SweepStopper(FusionQueue(callback), nodes.capacity)
        tuner(callback, stopper).fit()
        if sweep.fatal_error:
            raise SweepError(sweep.fatal_error)
        sweep.waiting = split_largest(sweep.unfinished_fusions(stopper.left), nodes.capacity)


def tuner(
    folder: Path,
    count: int,
    trainable: Callable[[dict[str, Any]], None],
    callback: DriverCallback,
    stopper: SweepStopper,
) -> ray.tune.Tuner:
    """Return a Tuner with one Ray trial per fusion; workers are reused between them.

    count: of all trials.
    """
    shutil.rmtree(folder, ignore_errors=True)  # a killed run leaves files that nothing reads
    sweep = callback.sweep
    listed = [fusion_point(f, sweep.proposed.peers(f[0])) for f in sweep.waiting]
    return ray.tune.Tuner(
        ray.tune.with_resources(trainable, Placement(callback.nodes)),
        param_space=search_space(listed),
        tune_config=ray.tune.TuneConfig(
            search_alg=stopper.queue,
            num_samples=-1,
            reuse_actors=True,
            max_concurrent_trials=sweep.execution.max_concurrent or count,
            trial_name_creator=ray_trial_name,
            trial_dirname_creator=ray_trial_name,
        ),
        run_config=ray.tune.RunConfig(
            name=folder.name,
            storage_path=str(folder.parent),
            callbacks=[callback],
            stop=stopper,
            verbose=0,
        ),
    )
