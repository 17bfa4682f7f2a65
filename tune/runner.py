"""Run fusions of trials with Ray Tune."""

import functools
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray.tune

from actmodels.errors import SweepError
from tune.asked_trials import AskedTrials
from tune.callback import DriverCallback
from tune.cluster import connected
from tune.early_stopping import RungScores
from tune.execution import Execution
from tune.fusion import Fusion, split_largest
from tune.fusion_tuning import plan_fusions, share_data
from tune.grid import Trial, grid_hash
from tune.node_check import run_checked
from tune.nodes import Nodes, Placement
from tune.progress import Progress
from tune.resources import ClusterMonitor, required_addresses, wait_for_resources
from tune.searcher import TrialSearcher
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
    rung_scores: RungScores | None,
    asked: AskedTrials,
) -> dict[str, str]:
    """Run trials on Ray, store the finished ones, and return errors of the others by key.

    The trials that `asked` will ask for follow.
    """
    # Tune's; workers do not see it
    folder = execution.state / "ray" / f"{kind}-{grid_hash(trials)}"
    candidates = [*trials, *asked.unasked]
    count = len(trials) + asked.remaining
    epochs = sum(trial.config.max_epochs for trial in candidates) * count // len(candidates)
    with (
        connected(dashboard=execution.dashboard, state=execution.state),
        closing(Progress(kind, count, epochs)) as progress,
        tracker.in_background(),  # ends before Ray: a later Ray call in its thread ends the process
        Nodes(execution) as nodes,
    ):
        callback = DriverCallback(
            {trial.key: trial for trial in candidates},
            store=store,
            tracker=tracker,
            progress=progress,
            checkpoints=execution.checkpoints,
            traces=execution.failures,
            keep_weights=keep_weights,
            nodes=nodes,
        )
        timeout = execution.wait_for_nodes if nodes.joined else 0  # a local Ray cannot grow
        wait_for_resources(nodes, timeout)
        data = share_data(candidates, execution)
        fusions = plan_fusions(kind, trials, execution, data, nodes)
        work = functools.partial(
            run_fusion,
            configs={trial.key: trial.config for trial in candidates},
            data=data,
            checkpoints=execution.checkpoints,
            rung_scores=rung_scores,
            system_metrics=execution.system_metrics,
            **execution.torch_settings,
        )
        trainable = functools.partial(run_checked, check=nodes.check, work=ray.put(work))
        with ClusterMonitor(nodes, max(5.0, timeout), required_addresses()):
            searcher = TrialSearcher(fusions, asked, nodes) if asked.remaining else None
            fit(folder, fusions, execution, callback, trainable, searcher)
    ended = callback.ended | asked.scores.keys()
    if not callback.errors and (asked.remaining or any(key not in ended for key in asked.keys)):
        raise KeyboardInterrupt  # after Ctrl-C Ray returns early and normally
    shutil.rmtree(folder, ignore_errors=True)
    return callback.errors


@dataclass(eq=False)
class SweepStopper(ray.tune.Stopper):
    """End a round of fusions on a fatal error, or when more nodes allow smaller fusions.

    fusions, capacity: of this round, at its beginning.
    """

    callback: DriverCallback
    fusions: Sequence[Fusion]
    capacity: int
    resize: bool = False

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """Return False: no fusion is stopped alone."""
        return False

    def stop_all(self) -> bool:
        """Return whether the round ends."""
        capacity = self.callback.nodes.capacity
        if capacity > self.capacity and not self.resize:
            fusions = self.unfinished()
            self.resize = len(fusions) < min(capacity, sum(len(f.trials) for f in fusions))
        return bool(self.callback.fatal_error) or self.resize

    def unfinished(self) -> list[Fusion]:
        """Return this round's fusions without the trials that have ended."""
        trials = [self.callback.unfinished([t.key for t in f.trials]) for f in self.fusions]
        return [Fusion(tuple(members)) for members in trials if members]


def fit(
    folder: Path,
    fusions: list[Fusion],
    execution: Execution,
    callback: DriverCallback,
    trainable: Callable[[dict[str, Any]], None],
    searcher: TrialSearcher | None = None,
) -> None:
    """Run rounds of fusions until no trial is requeued; each resumes from its last checkpoint.

    It ends: the number of losses of a trial is limited, and fusions that fail are halved.
    """
    while fusions:
        callback.requeued.clear()
        stopper = SweepStopper(callback, fusions, callback.nodes.capacity)
        tuner(folder, fusions, execution, stopper, trainable, searcher).fit()
        searcher = None  # it has asked for all trials
        if callback.fatal_error:
            raise SweepError(callback.fatal_error)
        fusions = list(callback.requeued)
        if stopper.resize:
            fusions = split_largest(stopper.unfinished(), callback.nodes.capacity)


def tuner(
    folder: Path,
    fusions: list[Fusion],
    execution: Execution,
    stopper: SweepStopper,
    trainable: Callable[[dict[str, Any]], None],
    searcher: TrialSearcher | None,
) -> ray.tune.Tuner:
    """Return a Tuner with one Ray trial per fusion; workers are reused between them."""
    shutil.rmtree(folder, ignore_errors=True)  # of a killed run; nothing is read from it
    names = {trial.key: trial.name for trial in stopper.callback.trials.values()}
    names |= {fusion.trials[0].key: fusion.name for fusion in fusions}

    def trial_name(ray_trial: Any) -> str:
        return names[ray_trial.config["fusion"][0]]

    # Keys only: Tune copies the values of all fusions for each fusion.
    grid = ray.tune.grid_search([[t.key for t in fusion.trials] for fusion in fusions])
    return ray.tune.Tuner(
        ray.tune.with_resources(trainable, Placement(stopper.callback.nodes)),
        param_space={} if searcher else {"fusion": grid},
        tune_config=ray.tune.TuneConfig(
            search_alg=searcher,
            num_samples=-1 if searcher else 1,
            reuse_actors=True,
            max_concurrent_trials=execution.workers,
            trial_name_creator=trial_name,
            trial_dirname_creator=trial_name,
        ),
        run_config=ray.tune.RunConfig(
            name=folder.name,
            storage_path=str(folder.parent),
            failure_config=ray.tune.FailureConfig(max_failures=execution.max_failures),
            callbacks=[stopper.callback],
            stop=stopper,
            verbose=0,
        ),
    )
