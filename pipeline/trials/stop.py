"""`act-nli sweep stop` and `resume`: end trials, or the whole sweep with its best, and go on."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from actmodels.errors import ArtifactError
from actmodels.files import write_text
from pipeline.parameters.load import load_params
from pipeline.runtime.stage import artifacts
from pipeline.trials.execution import execution_settings, planned_trials
from tune.trials.grid import grid_hash
from tune.trials.proposed_trials import ProposedTrials
from tune.trials.stops import USER, Stops
from tune.trials.storage import storage_errors
from tune.trials.store import TrialStore

RESUMED = ("watch", "sweep", "resumed")  # a dependency of the stage: DVC runs it again


def stop(words: Sequence[str]) -> str:
    """Request the end of trials after their epoch, by the start of their keys; return a message.

    words: keys, or names of trials; none: the whole sweep.

    Raises:
        ArtifactError: a word is no trial, or that of several; each trial has finished.
    """
    with _sweep() as (stops, store, proposed):
        named = _keys(words, proposed)
        if (named or not proposed.remaining) and all(map(store.holds, named or proposed.keys)):
            raise ArtifactError(
                "nothing to stop: the trials have finished; see: act-nli sweep status"
            )
        names = named or [stops.sweep]
        for name in names:
            stops.request(name, USER)
    what = "the sweep ends, and its running trials end, after their epoch"
    if words:
        what = f"trials that end after their epoch: {len(names)}"
    back = " ".join(["act-nli sweep resume", *words])
    return f"{what}; to take it back: {back}"


def resume(words: Sequence[str]) -> str:
    """Take back `stop`, so that the next run continues the trials; return a message."""
    with _sweep() as (stops, store, proposed):
        for name in _keys(words, proposed) or [stops.sweep]:
            stops.withdraw(name)
            store.resume(name)
    write_text(artifacts(*RESUMED), f"{time.time()}\n")
    return "the next run of the sweep continues from the last epochs; run: dvc repro"


@contextmanager
def _sweep() -> Iterator[tuple[Stops, TrialStore, ProposedTrials]]:
    """Yield requests, records and trials of the sweep of params.yaml."""
    params = load_params()
    execution = execution_settings(params)
    planned = planned_trials(params, execution)
    stops, store = Stops(execution.checkpoints, grid_hash(planned)), TrialStore(execution.trials)
    with storage_errors(execution.checkpoints):
        yield stops, store, ProposedTrials(planned, execution.trials, lambda _: None)


def _keys(words: Sequence[str], proposed: ProposedTrials) -> list[str]:
    """Return the keys of the trials that the words name."""
    keys, problems = list[str](), list[str]()
    for word in words:
        start = word.partition("-")[0]  # a name has eight digits of the key before a dash
        found = [trial.key for trial in proposed.trials if start and trial.key.startswith(start)]
        keys += found
        if len(found) != 1:
            number = f"of {len(found)} trials" if found else "of no trial of the sweep"
            problems.append(f"{word} is the key {number}; see: act-nli sweep status, act-nli ui")
    if problems:
        raise ArtifactError("\n".join(problems))
    return keys
