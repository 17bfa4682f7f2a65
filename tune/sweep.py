"""Run each trial of a sweep exactly once, also after crashes.

A trial's key covers its configuration, data, code and environment. It names what a crash must not
lose: the record of a finished trial, the checkpoint of an unfinished one, and its MLflow run.
Ray's own restore is not used: it returns results of a grid that has been edited since.
"""

import sys
from collections.abc import Callable

from actmodels.errors import SweepError
from actmodels.records import TrialRecord
from tune.early_stopping import RungScores
from tune.execution import Execution
from tune.grid import Trial, by_configuration, grid_hash
from tune.proposed_trials import ProposedTrials
from tune.provenance import provenance_tags
from tune.storage import Storage, prepare, storage_errors
from tune.store import TrialStore, checkpoint_name
from tune.tracking import Tracker, log_missing


def run_trials(
    stage: str,
    trials: list[Trial],
    execution: Execution,
    *,
    keep_weights: bool = False,
    slow: Callable[[Trial], float] = lambda _: 0.0,
) -> list[TrialRecord]:
    """Run the unfinished trials and return all records in the order of the trials.

    With a sequential search, `trials` are one of each model, and the records of those it proposed.
    The same call after an interruption resumes them.

    Args:
        stage: "sweep" or "retrain", for instance; part of MLflow's names and of messages.
        keep_weights: whether the store keeps the best weights.
        slow: sort key; the slowest trials start first, so that none of them runs alone at the end.

    Raises:
        SweepError: trials failed; names them.
    """
    if len({trial.key for trial in trials}) != len(trials):
        raise SweepError(f"{stage}: the grid has a trial twice; make its points distinct")
    tags = {**provenance_tags(), "grid_hash": grid_hash(trials)}
    tags["data_digest"] = ", ".join(dict.fromkeys(trial.origin["data"] for trial in trials))
    data = (execution.dataset, execution.data_folder)
    log_missing(execution.state)
    tracker = Tracker(stage, grid_hash(trials), tags, execution.state, data, execution.about)
    status, metrics = "KILLED", {"trials": float(len(trials))}
    results: list[tuple[Trial, TrialRecord | str]] = []
    try:
        with storage_errors(execution.checkpoints):
            results = _run(stage, trials, execution, tracker, keep_weights, slow)
        records = [result for _, result in results if isinstance(result, TrialRecord)]
        if failed := [f"\n  {trial.name}: {why}" for trial, why in results if isinstance(why, str)]:
            raise SweepError(
                f"{stage}: {len(failed)} of {len(results)} trials did not finish; nothing was "
                f"written; run the same command again to retry them{''.join(failed)}"
            )
        metrics["trials"] = float(len(results))
        if kept := [record for record in records if not record.diverged]:
            best = max(kept, key=lambda record: record.score).best.headline()
            name, value = next(iter(best.items()))
            metrics[f"best_{name}"] = value
        status = "FINISHED"
        return records
    except SweepError:
        status = "FAILED"
        raise
    finally:
        tracker.finish(status, metrics, results)


def _run(
    stage: str,
    trials: list[Trial],
    execution: Execution,
    tracker: Tracker,
    keep_weights: bool,
    slow: Callable[[Trial], float],
) -> list[tuple[Trial, TrialRecord | str]]:
    """Reuse finished trials, run the others, and return the record or the error of each."""
    store, checkpoints = TrialStore(execution.trials), execution.checkpoints
    prepare(checkpoints, "cluster.storage")
    prepare(store.storage, "cluster.state")
    rung_scores = _rung_scores(trials, checkpoints)

    def load(trial: Trial) -> TrialRecord | None:
        if record := store.load(trial.key, needs_weights=keep_weights):
            checkpoints.remove(checkpoint_name(trial.key))  # a worker may outlive its driver
            if rung_scores:
                rung_scores.record_result(record)
        return record

    proposed = ProposedTrials(trials, store.storage, load)
    unfinished = proposed.unfinished()
    if rung_scores and rung_scores.notes:
        print(*rung_scores.notes, sep="\n", file=sys.stderr, flush=True)
        rung_scores.notes.clear()  # workers have their own
    count = len(unfinished) + proposed.remaining
    print(f"{stage}: {count} of {proposed.total} trials to run", flush=True)
    errors: dict[str, str] = {}
    if unfinished:
        from tune.runner import execute  # imports Ray, more than a second

        unfinished.sort(key=slow, reverse=True)
        errors = execute(
            stage, unfinished, execution, store, tracker, keep_weights, rung_scores, proposed
        )
    results: list[tuple[Trial, TrialRecord | str]] = []
    for trial in proposed.trials:
        record = store.load(trial.key, needs_weights=keep_weights)
        results.append((trial, record or errors.get(trial.key, "no result")))
    complete = all(isinstance(result, TrialRecord) for _, result in results)
    if complete and (rung_scores := _rung_scores(proposed.trials, checkpoints)):
        rung_scores.delete()  # the records have the same scores
    return results


def _rung_scores(trials: list[Trial], storage: Storage) -> RungScores | None:
    rule = trials[0].early_stopping
    if rule is None:
        return None
    keys: dict[str, list[list[str]]] = {}
    for seeds in by_configuration(trials):
        keys.setdefault(seeds[0].config.model, []).append([trial.key for trial in seeds])
    return RungScores(storage, rule, keys, max(trial.config.max_epochs for trial in trials))
