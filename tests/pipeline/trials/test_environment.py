"""Wall-clock time of a training stage over its runs, and its machine."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from actmodels.records import EpochRecord, TrialRecord
from pipeline.trials.environment import timed, write_environment
from tests.samples import keyed, sample_trial
from tune.execution import Execution
from tune.grid import Trial
from tune.store import TrialStore

EPOCH = EpochRecord(1, 0.5, 0.5, None, None, None, 0.9, 0.6, None, None, None)
CONFIGS = [sample_trial("decomposable_attention", dropout=d) for d in (0.0, 0.1, 0.2)]
TRIALS = keyed(CONFIGS, "abc")


@pytest.fixture
def execution(folder: Path) -> Execution:
    return Execution(folder, folder, folder)


def record(trial: Trial) -> TrialRecord:
    return TrialRecord(trial.key, trial.config.as_dict(), 9, (EPOCH,), dict(trial.origin))


def finish(trial: Trial, execution: Execution) -> None:
    TrialStore(execution.trials).save(record(trial), None)


def written(execution: Execution, trials: list[Trial] = TRIALS) -> dict[str, Any]:
    write_environment("sweep", trials, execution, [record(trial) for trial in trials])
    result: dict[str, Any] = json.loads(Path("artifacts/sweep/environment.json").read_text())
    return result


def test_runs_on_the_same_trials_add_up(
    execution: Execution, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    finish(TRIALS[2], execution)
    with pytest.raises(KeyboardInterrupt), timed("sweep", TRIALS, execution):
        finish(TRIALS[0], execution)
        now = 130.0
        raise KeyboardInterrupt
    with timed("sweep", TRIALS, execution):
        finish(TRIALS[1], execution)
        now = 150.0
    with timed("sweep", TRIALS, execution):
        now = 151.0  # nothing was left to train
    result = written(execution)
    assert (result["wall_seconds"], result["trials"], result["reused"]) == (50.0, 3, 1)
    assert result["data_digest"] == "abc" and result["machine"]["cores"] >= 1
    assert set(result["provenance"]) >= {"git_commit", "python_version", "torch_version"}
    result = written(execution, TRIALS[:2])  # others
    assert (result["wall_seconds"], result["trials"], result["reused"]) == (0.0, 2, 2)


def test_a_corrupt_file_is_quarantined(
    execution: Execution, capsys: pytest.CaptureFixture[str]
) -> None:
    with timed("sweep", TRIALS, execution):
        finish(TRIALS[0], execution)
    (path,) = Path("stopwatch").iterdir()
    content = path.read_bytes().replace(b'"trained": 1', b'"trained": 3')
    path.write_bytes(content)
    assert written(execution)["reused"] == 3
    assert path.with_name(f"{path.name}.corrupt").read_bytes() == content
    assert "; quarantined as sweep-" in (message := capsys.readouterr().err)
    assert message.endswith(".json.corrupt, the time of earlier runs is not counted\n")
