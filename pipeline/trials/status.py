"""The state of the sweep, from its ledger: finished trials, checkpoints, and errors."""

from actmodels.records import TrialRecord
from pipeline.parameters.load import load_params
from pipeline.trials.execution import execution_settings, planned_trials
from tune.grid import Trial
from tune.store import TrialStore, checkpoint_name


def sweep_status() -> str:
    """Return how many trials of the grid finished, started or failed, and the best on dev.

    Raises:
        ArtifactError: the data of the sweep is missing.
    """
    params = load_params()
    execution = execution_settings(params)
    trials = planned_trials(params, execution)
    store, checkpoints = TrialStore(execution.trials), execution.checkpoints
    finished: list[tuple[Trial, TrialRecord]] = []
    states = dict.fromkeys(("finished", "started", "failed", "waiting"), 0)
    for trial in trials:
        record = store.load(trial.key, needs_weights=False) if store.holds(trial.key) else None
        if record is not None:
            finished.append((trial, record))
            states["finished"] += 1
        elif (execution.state / "failures" / f"{trial.name}.txt").exists():
            states["failed"] += 1
        else:
            began = checkpoints.exists(checkpoint_name(trial.key))
            states["started" if began else "waiting"] += 1
    counts = ", ".join(f"{count} {name}" for name, count in states.items())
    lines = [f"sweep: {len(trials)} trials: {counts}"]
    if finished:
        trial, record = max(finished, key=lambda pair: pair[1].best.dev_accuracy)
        best = f"dev {record.best.dev_accuracy:.1%}, epoch {record.best.epoch}"
        lines.append(f"best so far: {trial.name} ({best.replace('%', ' %')})")
    return "\n".join(lines)
