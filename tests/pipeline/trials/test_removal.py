"""Trials removed by age and use: exact numbers, their runs, and kills at every write."""

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from actmodels.errors import ConfigError, SweepError
from actmodels.files import write_text
from pipeline.parameters.load import load_params
from pipeline.trials.execution import execution_settings
from pipeline.trials.removal import remove_trials
from tests.pipeline.project import write_params
from tests.tune.tracking_samples import Killed, children, record
from tune.tracking.mlflow_store import MlflowClient
from tune.tracking.tracker import LoggedTrial, Tracker
from tune.trials.stops import USER, with_end
from tune.trials.storage import Storage
from tune.trials.store import TrialStore, checkpoint_name, record_name

OLD, USED, NEW = (digit * 16 for digit in "abc")
STUDY = "d" * 16


def write_trials(folder: Path) -> int:
    """Write four trials, three of them old, and their runs; return the bytes of OLD."""
    write_params(folder)
    store, state = TrialStore(Storage(str(folder / "state/trials"))), folder / "state"
    state.mkdir(exist_ok=True)
    for key in (OLD, USED, NEW, STUDY):
        store.save(record(key), {})
        for path in (state / "trials").glob(f"{key}.*"):
            os.utime(path, (then := time.time() - 30 * 86_400 * (key != NEW), then))
    write_text(folder / "artifacts/sweep/records.jsonl", json.dumps({"key": USED}) + "\n")
    write_text(folder / "artifacts/studies/halting/results.csv", f"key\n{STUDY}\n")
    tracker = Tracker("sweep", "0" * 16, {}, state)
    logged = [LoggedTrial(key, key, key, {}, "d") for key in (OLD, USED, NEW)]
    tracker.finish("FINISHED", {}, [(trial, record(trial.key)) for trial in logged])
    return sum(path.stat().st_size for path in (state / "trials").glob(f"{OLD}.*"))


def left(folder: Path) -> set[str]:
    return {path.stem for path in (folder / "state/trials").iterdir()}


def test_old_trials_that_no_artifact_has_are_removed_with_their_runs(folder: Path) -> None:
    size = write_trials(folder)
    counts = f"1 of 4 trials, {size:,} bytes"
    text = f"would remove {counts}; add --yes to remove them and their runs in MLflow"
    assert remove_trials("29d", True, confirmed=False) == text
    assert left(folder) == {OLD, USED, NEW, STUDY} and len(children(folder / "state")) == 3
    assert remove_trials("31d", True, confirmed=True) == (
        "removed 0 of 4 trials, 0 bytes; runs in MLflow: 0"
    )
    assert remove_trials("29d", True, True) == f"removed {counts}; runs in MLflow: 1"
    assert left(folder) == {USED, NEW, STUDY}
    assert children(folder / "state").keys() == {USED, NEW}
    assert remove_trials(None, True, True).startswith("removed 1 of 3 trials")
    assert remove_trials("4w", False, True).startswith("removed 2 of 2 trials")
    assert left(folder) == set() and not children(folder / "state")


def test_a_stopped_trial_is_removed_with_its_checkpoint(folder: Path) -> None:
    write_trials(folder)
    checkpoints = execution_settings(load_params()).checkpoints
    checkpoints.make()
    for key in (OLD, USED, "e" * 16):  # the last has not ended
        checkpoints.write_named(checkpoint_name(key), b"state")
        path = Path(checkpoints.location, checkpoint_name(key))
        os.utime(path, (time.time() - 30 * 86_400,) * 2)
    store = TrialStore(Storage(str(folder / "state/trials")))
    for key in (OLD, USED, NEW):
        (folder / f"state/trials/{key}.json").unlink()
        (folder / f"state/trials/{key}.pt").unlink()
        store.save(with_end(record(key), USER), None)
        path = folder / "state/trials" / record_name(key, stopped=True)
        os.utime(path, (then := time.time() - 30 * 86_400 * (key != NEW), then))
    size = (folder / "state/trials" / record_name(OLD, stopped=True)).stat().st_size
    size += Path(checkpoints.location, checkpoint_name(OLD)).stat().st_size
    counts = f"1 of 4 trials, {size:,} bytes"
    text = f"would remove {counts}; add --yes to remove them and their runs in MLflow"
    assert remove_trials("29d", True, confirmed=False) == text
    assert store.holds(OLD)
    assert remove_trials("29d", True, True) == f"removed {counts}; runs in MLflow: 1"
    assert [store.holds(key) for key in (OLD, USED, NEW)] == [False, True, True]
    assert children(folder / "state").keys() == {USED, NEW}
    assert remove_trials("4w", False, True).startswith("removed 2 of 3 trials")
    assert not store.holds(USED) and store.holds(NEW)
    assert [name for name, *_ in checkpoints.files()] == [checkpoint_name("e" * 16)]


def test_a_kill_before_any_write_leaves_the_rest_to_the_next(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writes: a run, the weights, the record."""

    def dying(write: Any) -> Any:
        def counted(*arguments: Any) -> None:
            if not allowed:
                raise Killed
            allowed.pop()
            write(*arguments)

        return counted

    for writes in range(4):
        write_trials(folder)
        allowed = [None] * writes
        with monkeypatch.context() as patch, suppress(Killed):
            patch.setattr(MlflowClient, "delete_run", dying(MlflowClient.delete_run))
            patch.setattr(Storage, "remove", dying(Storage.remove))
            remove_trials("29d", True, confirmed=True)
        assert not allowed
        remaining = "1 of 4" if writes < 3 else "0 of 3"
        assert remove_trials("29d", True, True).startswith(f"removed {remaining} trials")
        assert left(folder) == {USED, NEW, STUDY}
        assert children(folder / "state").keys() == {USED, NEW}


def test_what_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"^trials remove: name a condition: --older-than 30d, "):
        remove_trials(None, False, confirmed=True)
    for age in ("30", "d", "-1d", "1.5d", ""):
        with pytest.raises(ConfigError, match=f"^--older-than: '{age}' must be a time of weeks"):
            remove_trials(age, False, confirmed=True)
    write_trials(folder)
    with (
        FileLock(folder / "state/run.lock"),
        pytest.raises(SweepError, match=r"^a stage runs, which holds .*run\.lock; run this after"),
    ):
        remove_trials("29d", True, confirmed=False)
