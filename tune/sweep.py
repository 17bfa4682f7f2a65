"""Run each trial of a sweep exactly once, also after crashes.

A trial's key covers its configuration, data, code and environment. It names what a crash must not
lose: the record of a finished trial, the checkpoint of an unfinished one, and its MLflow run.
Ray's own restore is not used: it returns results of a grid that has been edited since.
"""

from collections.abc import Callable

from actmodels.records import TrialRecord
from tune.running_sweep import RunningSweep
from tune.tracking.tracker import log_missing
from tune.trials.execution import Execution
from tune.trials.grid import Trial


def run_trials(
    stage: str,
    trials: list[Trial],
    execution: Execution,
    *,
    keep_weights: bool = False,
    priority: Callable[[Trial], float] = lambda _: 0.0,
) -> list[TrialRecord]:
    """Run the unfinished trials and return all records in the order of the trials.

    With a sequential search, `trials` are one of each model, and the records of those it proposed.
    The same call after an interruption resumes them.

    Args:
        stage: "sweep" or "retrain", for instance; part of MLflow's names and of messages.
        keep_weights: whether the store keeps the best weights.
        priority: sort key of the order in which trials start, the highest first.

    Raises:
        SweepError: trials failed; names them.
    """
    log_missing(execution.state)
    sweep = RunningSweep(stage, trials, execution, keep_weights)
    with sweep.opened() as unfinished:
        if unfinished:
            from tune.cluster.runner import train  # imports Ray, more than a second

            train(sweep, sorted(unfinished, key=priority, reverse=True))
        return sweep.records()
