"""`act-nli sweep status`: the trials of the sweep by state, those that run, the best so far."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from statistics import median

from filelock import FileLock, Timeout

from actmodels.files import CorruptError
from actmodels.records import EpochRecord, TrialRecord, best_epoch
from pipeline.parameters.load import load_params
from pipeline.runtime.stage import artifacts, state_folder
from pipeline.trials.execution import data_is_current, execution_settings, planned_trials
from pipeline.trials.records import read_records
from tune.trials.execution import Execution
from tune.trials.grid import Trial, grid_hash
from tune.trials.proposed_trials import ProposedTrials
from tune.trials.stops import Stops, ended_by
from tune.trials.storage import storage_errors
from tune.trials.store import TrialStore, load_checkpoint

STATES = ("finished", "stopped", "diverged", "started", "failed", "waiting")
NAMED = 10  # ours: diverged trials with a line of their own


def sweep_status() -> str:
    """Return how many trials of the grid are in each state, and the best of all that trained.

    Raises:
        ArtifactError: the data of the sweep is missing.
        SweepError: the storage cannot be reached.
    """
    params = load_params()
    execution = execution_settings(params)
    store = TrialStore(execution.trials)

    def load(trial: Trial) -> TrialRecord | None:
        return store.load(trial.key, needs_weights=False)

    with storage_errors(execution.trials):
        trials = planned_trials(params, execution)
        proposed = ProposedTrials(trials, execution.trials, load)
        records = {trial.key: load(trial) for trial in proposed.trials}
        note = _add_fetched(records)
        states = {
            trial.name: _state(trial, records[trial.key], execution) for trial in proposed.trials
        }
    all_states = [state for state, _ in states.values()] + ["waiting"] * proposed.remaining
    shown = [state for state in STATES if state != "stopped" or state in all_states]
    counts = ", ".join(f"{all_states.count(state)} {state}" for state in shown)
    diverged = [
        f"{trial.name}: {record.end}"
        for trial in proposed.trials
        if (record := records[trial.key]) and record.diverged
    ]
    about = f" ({execution.about})" if str(execution.about) else ""
    lines = [f"sweep{about}: {proposed.total} trials: {counts}", *note, *diverged[:NAMED]]
    if len(diverged) > NAMED:
        lines.append(f"and {len(diverged) - NAMED} more diverged; see MLflow: act-nli ui")
    if by := Stops(execution.checkpoints, grid_hash(trials)).reason():
        lines.append(f"{by} ends the sweep, or has ended it")
    if not data_is_current():
        lines.append("These are trials on the data of other parameters; run: dvc repro tensors")
    best = {name: best_epoch(history) for name, (_, history) in states.items() if history}
    if best:
        name = max(best, key=lambda name: best[name].dev_accuracy)
        lines.append(f"best so far: {name} ({best[name].text}, epoch {best[name].epoch})")
    return "\n".join(lines + _running(proposed.trials, states) if _stage_runs() else lines)


def _stage_runs() -> bool:
    """Return whether a stage of this project runs, which holds its lock."""
    try:
        with FileLock(state_folder() / "run.lock", timeout=0, fallback_to_soft=False):
            return False
    except Timeout:
        return True


def _running(
    trials: Sequence[Trial], states: Mapping[str, tuple[str, Sequence[EpochRecord]]]
) -> list[str]:
    """Return a line for each trial that has a checkpoint, and the time left.

    By the median seconds of a model's epochs; of all models before it has one.
    """
    lines, seconds = list[str](), dict[str, list[float]]()
    for trial in trials:
        state, history = states[trial.name]
        own = seconds.setdefault(trial.config.model, [])
        own += [epoch.seconds for epoch in history if epoch.seconds is not None]
        if state == "started":
            progress = f"epoch {len(history)}/{trial.config.max_epochs}"
            lines.append(f"started: {trial.name} {progress}, {best_epoch(history).text}")
    unfinished = [trial for trial in trials if states[trial.name][0] in ("started", "waiting")]
    measured = [second for own in seconds.values() for second in own]
    if lines and measured:
        rates = {model: median(own or measured) for model, own in seconds.items()}
        left = sum(
            rates[trial.config.model] * (trial.config.max_epochs - len(states[trial.name][1]))
            for trial in unfinished
        )
        minutes = math.ceil(left / len(lines) / 60)
        lines.append(f"about {minutes} min left with {len(lines)} at the same time")
    return lines[:NAMED] + lines[NAMED:][-1:]


def _add_fetched(records: dict[str, TrialRecord | None]) -> list[str]:
    """Add the trials that DVC has fetched if they complete the sweep; else return a note.

    Another sweep does not reuse them: DVC deletes a stage's outputs before it runs. Those that were
    ended early continue from their checkpoints.
    """
    if not artifacts("sweep", "records.jsonl").is_file():
        return []
    fetched = {record.key: record for record in read_records("sweep")}
    missing = {key for key, record in records.items() if record is None}
    if missing <= fetched.keys():
        records |= {key: fetched[key] for key in missing}
    elif lost := sum(not ended_by(fetched[key]) for key in missing & fetched.keys()):
        return [f"{lost} of them in artifacts/sweep, which DVC deletes first, train again"]
    return []


def _state(
    trial: Trial, record: TrialRecord | None, execution: Execution
) -> tuple[str, Sequence[EpochRecord]]:
    """Return the state of a trial, and its epochs so far unless it diverged."""
    if record:
        if record.diverged:
            return "diverged", ()
        return "stopped" if record.stopped else "finished", record.history
    history = list[EpochRecord]()
    with suppress(FileNotFoundError, CorruptError):  # none, or it starts over
        state = load_checkpoint(execution.checkpoints, trial.key)
        history = [EpochRecord(**epoch) for epoch in state["history"]]
    if (execution.failures / f"{trial.name}.txt").exists():
        return "failed", history
    return "started" if history else "waiting", history
