"""Wall-clock time of a training stage over its runs, and its machine."""

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from actmodels.records import EpochRecord, TrialRecord
from pipeline.trials import environment
from tests.samples import keyed, sample_trial
from tune.trials.execution import Description, Execution
from tune.trials.grid import Trial
from tune.trials.store import TrialStore

Train = Callable[..., dict[str, Any]]
EPOCH = EpochRecord(1, 0.5, 0.5, None, None, None, 0.9, 0.6, None, None, None)
NAMELESS = Description()
CONFIGS = [sample_trial("decomposable_attention", dropout=d) for d in (0.0, 0.1, 0.2)]
TRIALS = keyed(CONFIGS, "abc")


def record(trial: Trial) -> TrialRecord:
    return TrialRecord(trial.key, trial.config.as_dict(), 9, (EPOCH,), dict(trial.origin))


@pytest.fixture
def train(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Train:
    """Return a function that finishes some trials in some seconds, and returns environment.json."""
    execution, now = Execution(folder, folder, folder), [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def train(
        *new: Trial,
        seconds: float,
        trials: list[Trial] = TRIALS,
        fail: bool = False,
        about: Description = NAMELESS,
    ) -> Any:
        def run_trials(*_: object) -> list[TrialRecord]:
            now[0] += seconds
            for trial in new:
                TrialStore(execution.trials).save(record(trial), None)
            if fail:
                raise KeyboardInterrupt
            return [record(trial) for trial in trials]

        monkeypatch.setattr(environment, "run_trials", run_trials)
        environment.train_trials("sweep", trials, replace(execution, about=about))
        return json.loads(Path("artifacts/sweep/environment.json").read_text())

    return train


def test_runs_on_the_same_trials_add_up(train: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    train(TRIALS[2], seconds=9.0, trials=TRIALS[2:])  # an earlier grid
    with pytest.raises(KeyboardInterrupt):
        train(TRIALS[0], seconds=30.0, fail=True)
    train(TRIALS[1], seconds=20.0)
    with monkeypatch.context() as patched:
        patched.delattr(environment, "machine")  # that of the training is kept
        result = train(seconds=1.0)  # nothing was left to train
    assert (result["wall_seconds"], result["trials"], result["reused"]) == (50.0, 3, 1)
    assert result["data_digest"] == "abc" and result["machine"]["cores"] >= 1
    assert set(result["provenance"]) >= {"git_commit", "python_version", "torch_version"}
    assert "about" not in result
    result = train(seconds=1.0, trials=TRIALS[:2], about=Description("wide", "a\nb"))  # others
    assert result["about"] == "wide; a b"
    assert (result["wall_seconds"], result["trials"], result["reused"]) == (0.0, 2, 2)


def test_trials_that_were_deleted_and_trained_again_are_not_reused(train: Train) -> None:
    train(*TRIALS, seconds=1.0)
    shutil.rmtree("trials")
    assert train(*TRIALS, seconds=1.0)["reused"] == 0


def test_a_corrupt_file_is_quarantined(train: Train, capsys: pytest.CaptureFixture[str]) -> None:
    train(TRIALS[0], seconds=1.0)
    (path,) = Path("stopwatch").iterdir()
    content = path.read_bytes().replace(b'"trained": 1', b'"trained": 3')
    path.write_bytes(content)
    assert train(seconds=1.0)["reused"] == 3
    assert path.with_name(f"{path.name}.corrupt").read_bytes() == content
    assert "; quarantined as sweep-" in (message := capsys.readouterr().err)
    assert message.endswith(".json.corrupt, the time of earlier runs is not counted\n")
