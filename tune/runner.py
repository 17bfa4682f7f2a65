"""Run fusions of trials with Ray Tune."""

import functools
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray.tune
from ray.tune.search import BasicVariantGenerator, Searcher

from actmodels.errors import SweepError
from tune import points
from tune.callback import DriverCallback, DriverOnly
from tune.cluster import connected
from tune.code_digest import code_packages
from tune.early_stopping import RungScores
from tune.execution import Execution
from tune.fusion import Fusion, split_largest
from tune.fusion_tuning import plan_fusions, share_data
from tune.grid import Trial, by_configuration, grid_hash
from tune.node_check import run_checked
from tune.nodes import Nodes, Placement
from tune.progress import Progress
from tune.proposed_trials import ProposedTrials
from tune.resources import ClusterMonitor, required_addresses, wait_for_resources
from tune.store import TrialStore
from tune.tracking import Tracker
from tune.trainable import run_fusion


def execute(
    stage: str,
    trials: list[Trial],
    execution: Execution,
    store: TrialStore,
    tracker: Tracker,
    keep_weights: bool,
    rung_scores: RungScores | None,
    proposed: ProposedTrials,
) -> dict[str, str]:
    """Run trials on Ray, store the finished ones, and return errors of the others by key.

    The trials that `proposed` still proposes follow.
    """
    # The folder of Ray Tune, on the driver alone.
    folder = execution.state / "ray" / f"{stage}-{grid_hash(trials)}"
    planned = proposed.templates or trials
    count = len(trials) + proposed.remaining
    code = dict.fromkeys(path for trial in planned for path in code_packages(trial.config))
    epochs = sum(trial.config.max_epochs for trial in planned) * count // len(planned)
    name = execution.about.name or stage
    with (
        connected(dashboard=execution.dashboard, state=execution.state, code=code, name=name),
        closing(Progress(stage, count, epochs)) as progress,
        tracker.in_background(),  # within `connected`: a Ray call after its end kills the process
        Nodes(execution) as nodes,
    ):
        callback = DriverCallback(
            {trial.key: trial for trial in trials},
            store=store,
            tracker=tracker,
            progress=progress,
            checkpoints=execution.checkpoints,
            traces=execution.failures,
            keep_weights=keep_weights,
            nodes=nodes,
        )
        timeout = execution.patience if nodes.external else 0  # a local Ray cannot grow
        wait_for_resources(nodes, timeout)
        data = share_data(planned, execution)
        fusions = plan_fusions(stage, trials, execution, data, nodes)
        work = functools.partial(
            run_fusion,
            configs={trial.key: trial.config for trial in planned},
            data=data,
            varied=points.varied_settings(
                [trial.config for trial in planned],
                [name for t in planned if t.search for name in t.search.axes],
            ),
            checkpoints=execution.checkpoints,
            rung_scores=rung_scores,
            stacked=execution.trials_per_fusion != 1,
            system_metrics=execution.system_metrics,
            **execution.torch_settings,
        )
        check, shared = nodes.check, ray.put(work)

        def trainable(point: dict[str, Any]) -> None:
            run_checked(point, check=check, work=shared)

        # the repr of the actor, which Ray reads once, while a worker trains many trials
        trainable.__name__ = f"worker of {stage}"
        required = required_addresses(nodes)
        with ClusterMonitor(nodes, max(5.0, timeout), required, progress.running):
            fit(functools.partial(tuner, folder, execution, trainable, proposed), fusions, callback)
    left = set(proposed.keys) - callback.ended - proposed.scores.keys()
    if not callback.errors and (proposed.remaining or left):
        raise KeyboardInterrupt  # after Ctrl-C Ray returns early and normally
    shutil.rmtree(folder, ignore_errors=True)
    return callback.errors


class TrialSearcher(DriverOnly, Searcher):
    """Give Ray the unfinished trials first, then those that the search proposes.

    A trial is proposed when it can start, so that the search has as many scores as possible.
    """

    def __init__(
        self, fusions: Iterable[Fusion], proposed: ProposedTrials, callback: DriverCallback
    ) -> None:
        super().__init__()
        self.waiting, self.proposed, self.callback = list(fusions), proposed, callback
        self.running: dict[str, Fusion] = {}

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:  # type: ignore[override]
        """Return the next fusion; None: later; FINISHED: there is none."""
        if len(self.running) >= max(1, self.callback.nodes.capacity):
            return None
        if not self.waiting and (trials := self.proposed.ask()):
            self.waiting += by_configuration(trials)
            self.callback.trials |= {trial.key: trial for trial in trials}
        if not self.waiting:
            return Searcher.FINISHED
        fusion = self.running[trial_id] = self.waiting.pop(0)
        return points.fusion_point(fusion, self.proposed.peers(fusion[0]))

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Keep the score of a trial that the driver's callback has recorded."""
        for trial in self.running.pop(trial_id, ()):
            self.proposed.is_finished(trial.key)

    def save_to_dir(self, checkpoint_dir: str, session_str: str = "default") -> None:
        """Save nothing: the ledger has the trials."""


def ray_trial_name(ray_trial: Any) -> str:
    """Return the name of Ray's trial of a fusion."""
    return points.point_name(ray_trial.config)


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
            self.resize = len(fusions) < min(capacity, sum(map(len, fusions)))
        return bool(self.callback.fatal_error) or self.resize

    def unfinished(self) -> list[Fusion]:
        """Return this round's fusions without the trials that have ended."""
        fusions = (self.callback.unfinished([t.key for t in f]) for f in self.fusions)
        return [fusion for fusion in fusions if fusion]


def fit(
    tuner: Callable[[list[Fusion], SweepStopper], ray.tune.Tuner],
    fusions: list[Fusion],
    callback: DriverCallback,
) -> None:
    """Run rounds of fusions until no trial is requeued; each resumes from its last checkpoint.

    It ends: the number of losses of a trial is limited, and fusions that fail are halved.
    """
    while fusions:
        callback.requeued.clear()
        stopper = SweepStopper(callback, fusions, callback.nodes.capacity)
        tuner(fusions, stopper).fit()
        if callback.fatal_error:
            raise SweepError(callback.fatal_error)
        fusions = list(callback.requeued)
        if stopper.resize:
            fusions = split_largest(stopper.unfinished(), callback.nodes.capacity)


def tuner(
    folder: Path,
    execution: Execution,
    trainable: Callable[[dict[str, Any]], None],
    proposed: ProposedTrials,
    fusions: list[Fusion],
    stopper: SweepStopper,
) -> ray.tune.Tuner:
    """Return a Tuner with one Ray trial per fusion; workers are reused between them."""
    shutil.rmtree(folder, ignore_errors=True)  # a killed run leaves files that nothing reads
    callback = stopper.callback
    sequential = TrialSearcher(fusions, proposed, callback) if proposed.remaining else None
    # A list of points, not a grid: Tune copies all values of a grid for each trial.
    listed = [points.fusion_point(fusion, proposed.peers(fusion[0])) for fusion in fusions]
    return ray.tune.Tuner(
        ray.tune.with_resources(trainable, Placement(callback.nodes)),
        param_space=points.space(listed),
        tune_config=ray.tune.TuneConfig(
            search_alg=sequential or BasicVariantGenerator(listed, execution.workers or 0),
            num_samples=-1 if sequential else len(listed),
            reuse_actors=True,
            max_concurrent_trials=execution.workers if sequential else None,
            trial_name_creator=ray_trial_name,
            trial_dirname_creator=ray_trial_name,
        ),
        run_config=ray.tune.RunConfig(
            name=folder.name,
            storage_path=str(folder.parent),
            failure_config=ray.tune.FailureConfig(max_failures=execution.max_failures),
            callbacks=[callback],
            stop=stopper,
            verbose=0,
        ),
    )
