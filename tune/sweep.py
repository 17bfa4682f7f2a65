"""Running trials to their end, each exactly once, whatever crashes in between.

Keys cover configuration, data, code and environment, and name what a crash must not lose: finished
trials in the store, trials in progress in the checkpoints, their runs in MLflow. Ray's own restore
state is not used: it hands back results of a grid since edited.
"""

import sys
from collections.abc import Callable

from actmodels.errors import SweepError
from actmodels.records import TrialRecord
from tune.early_stopping import Rungs
from tune.execution import Execution
from tune.grid import Trial, grid_hash
from tune.provenance import provenance_tags
from tune.runner import execute
from tune.storage import Storage, prepare, usable
from tune.store import TrialStore
from tune.tracking import Tracker
from tune.trainable import checkpoint_name


def run_trials(
    kind: str,
    trials: list[Trial],
    execution: Execution,
    *,
    keep_weights: bool = False,
    slow: Callable[[Trial], float] = lambda _: 0.0,
) -> list[TrialRecord]:
    """Run what has not finished yet, and return the records of all trials in their order.

    The same call after an interruption goes on where it was. kind: "sweep" or "retrain". slow: the
    trials with most of it start first, or a worker may be left alone with one of them at the end.

    Raises:
        SweepError: a trial failed or is missing; names all of them.
    """
    if len({trial.key for trial in trials}) != len(trials):
        raise SweepError(f"{kind}: the grid names a trial twice; make its points distinct")
    tags = {**provenance_tags(), "grid_hash": grid_hash(trials)}
    tags["data_digest"] = ", ".join(dict.fromkeys(trial.origin["data"] for trial in trials))
    tracker = Tracker(kind, grid_hash(trials), tags, execution.state)
    status, metrics = "KILLED", {"trials": float(len(trials))}
    results: list[tuple[Trial, TrialRecord | str]] = []
    try:
        with usable(execution.checkpoints):
            found = try_all(kind, trials, execution, tracker, keep_weights, slow)
        results += zip(trials, found, strict=True)
        records = [result for result in found if isinstance(result, TrialRecord)]
        if left := [f"\n  {trial.name}: {why}" for trial, why in results if isinstance(why, str)]:
            raise SweepError(
                f"{kind}: {len(left)} of {len(trials)} trials did not finish; nothing was written; "
                f"run the same command again to retry them{''.join(left)}"
            )
        metrics["best_dev_accuracy"] = max(record.best.dev_accuracy for record in records)
        status = "FINISHED"
        return records
    except SweepError:
        status = "FAILED"
        raise
    finally:
        tracker.finish(status, metrics, results)


def try_all(
    kind: str,
    trials: list[Trial],
    execution: Execution,
    tracker: Tracker,
    keep_weights: bool,
    slow: Callable[[Trial], float],
) -> list[TrialRecord | str]:
    """Reuse finished trials, run the others, and return records, or why there is none."""
    store, checkpoints = TrialStore(execution.trials), execution.checkpoints
    prepare(checkpoints, "cluster.storage")
    prepare(store.place, "cluster.state")
    rungs = rungs_of(trials, checkpoints)
    missing: list[Trial] = []
    for trial in trials:
        record = store.load(trial.key, needs_weights=keep_weights)
        if record is None:
            missing.append(trial)
            continue
        checkpoints.remove(checkpoint_name(trial.key))  # a worker may have outlived its driver
        if rungs:
            rungs.enter(trial.key, record.history)
    if rungs and rungs.notes:
        print(*rungs.notes, sep="\n", file=sys.stderr, flush=True)
        rungs.notes.clear()  # workers have notes of their own
    print(f"{kind}: {len(missing)} of {len(trials)} trials to run", flush=True)
    errors: dict[str, str] = {}
    if missing:
        missing.sort(key=slow, reverse=True)
        errors = execute(kind, missing, execution, store, tracker, keep_weights, rungs)
    found: list[TrialRecord | str] = [
        store.load(trial.key, needs_weights=keep_weights) or errors.get(trial.key, "no result")
        for trial in trials
    ]
    if rungs and not any(isinstance(result, str) for result in found):
        rungs.forget()  # the records have the same scores
    return found


def rungs_of(trials: list[Trial], place: Storage) -> Rungs | None:
    """Where trials are compared with the others of their model, if there is a rule that says so."""
    rule = trials[0].early_stopping
    if rule is None:
        return None
    rivals: dict[str, list[str]] = {}
    for trial in trials:
        rivals.setdefault(trial.config.model, []).append(trial.key)
    return Rungs(place, rule, rivals, max(trial.config.max_epochs for trial in trials))
