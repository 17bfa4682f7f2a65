"""Remove stored trials by age and use."""

import re
import time
from dataclasses import dataclass, field
from typing import NoReturn

from actmodels.errors import ConfigError, SweepError
from pipeline.parameters.load import load_params
from pipeline.parameters.section import A_TIME, seconds_of
from pipeline.runtime.stage import artifacts, file_lock, state_folder
from pipeline.trials.execution import execution_settings
from tune.trials.storage import Storage, storage_errors
from tune.trials.store import STOPPED

KEY = re.compile(r"\b[0-9a-f]{16}\b")
FILE = re.compile(rf"(?:{STOPPED})?([0-9a-f]{{16}})\.(json|pt)(\.corrupt\d*)?")
REFERENCES = ("sweep/*.jsonl", "retrain/*.jsonl", "studies/*/*.csv")  # name all trials in use


@dataclass
class StoredTrial:
    """The files of a trial, their bytes, and the time of the last write in Unix time."""

    files: list[tuple[Storage, str]] = field(default_factory=list)
    bytes: int = 0
    written: float = 0.0

    def add(self, place: Storage, name: str, size: int, written: float) -> None:
        """Add a file."""
        self.files.append((place, name))
        self.bytes += size
        self.written = max(self.written, written)


def remove_trials(older_than: str | None, not_in_use: bool, confirmed: bool) -> str:
    """Remove the trials that meet all conditions, and their runs in MLflow; return the numbers.

    The runs go first, the record of a trial last: after a kill the same command finds the rest.

    Args:
        older_than: such as 30d. not_in_use: no artifact of the workspace has the trial.
        confirmed: without it nothing is removed.

    Raises:
        ConfigError: there is no condition, or the age is invalid.
        SweepError: a stage runs, or the storage cannot be reached.
        ArtifactError: the file system has no locks.
    """
    if older_than is None and not not_in_use:
        raise ConfigError("trials remove", ["name a condition: --older-than 30d, --not-in-use"])
    age = seconds_of(older_than) if older_than is not None else 0
    if older_than is not None and not age:
        raise ConfigError("--older-than", [f"{older_than!r} must be {A_TIME}"])
    before = time.time() - age
    execution, lock = execution_settings(load_params()), state_folder() / "run.lock"
    place = execution.trials

    def refuse() -> NoReturn:
        raise SweepError(f"a stage runs, which holds {lock}; run this after it")

    with file_lock(lock, refuse), storage_errors(place):
        trials = stored_trials(place, execution.checkpoints)
        used = keys_in_use() if not_in_use else set()
        old = {key: t for key, t in trials.items() if t.written <= before and key not in used}
        size = sum(trial.bytes for trial in old.values())
        counts = f"{len(old):,} of {len(trials):,} trials, {size:,} bytes"
        if not confirmed:
            return f"would remove {counts}; add --yes to remove them and their runs in MLflow"
        runs = remove_runs(set(old)) if old else 0
        for trial in old.values():
            for storage, name in reversed(trial.files):
                storage.remove(name)
    return f"removed {counts}; runs in MLflow: {runs:,}"


def stored_trials(place: Storage, checkpoints: Storage) -> dict[str, StoredTrial]:
    """Return the stored trials by key, also those whose record or weights are missing.

    Their records are the first files. A stopped trial keeps its checkpoint, to go on from it.
    """
    trials: dict[str, StoredTrial] = {}
    for name, size, written in sorted([*place.files(), *place.files(STOPPED)]):
        if found := FILE.fullmatch(name):
            trials.setdefault(found[1], StoredTrial()).add(place, name, size, written)
    for name, size, written in checkpoints.files():
        if (found := FILE.fullmatch(name)) and found[1] in trials:
            trials[found[1]].add(checkpoints, name, size, written)
    return trials


def keys_in_use() -> set[str]:
    """Return the keys of trials that an artifact of the workspace has."""
    paths = [path for pattern in REFERENCES for path in artifacts().glob(pattern)]
    return {key for path in paths for key in KEY.findall(path.read_text("utf-8"))}


def remove_runs(keys: set[str]) -> int:
    """Remove the runs of trials in MLflow; return their number."""
    from tune.tracking.results import remove_trial_runs  # importing MLflow takes seconds

    return remove_trial_runs(keys, state_folder())
